// SPDX-License-Identifier: Apache-2.0
// YAML through yaml-cpp's event interface: it keeps positions, duplicate keys and the text of scalars, and lets us
// stop before its recursive parser goes deep.
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <sstream>
#include <utility>

#include "arch/support/config_tree.h"
#include "arch/support/source_text.h"

namespace tandem {
namespace {

constexpr std::size_t kMaxNodes = 1'000'000;                      // after expansion of aliases
constexpr std::size_t kMaxExpandedBytes = std::size_t{64} << 20;  // of scalars and keys
// Brackets in quoted text or comments count in the scan before parsing, so it allows more than kMaxNesting.
constexpr int kMaxOpenBrackets = 4 * kMaxNesting;
constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";

struct Size {
  std::size_t nodes = 0, bytes = 0;
};

Size size_of(const ConfigNode& node) {
  Size size{1, node.scalar.size()};
  const auto add = [&size](const ConfigNode& child) {
    const Size more = size_of(child);
    size.nodes += more.nodes;
    size.bytes += more.bytes;
  };
  for (const ConfigNode& item : node.items) add(item);
  for (const ConfigNode::Entry& entry : node.entries) {
    size.bytes += entry.key.size();
    add(entry.value);
  }
  return size;
}

int depth_of(const ConfigNode& node) {
  int depth = 0;
  for (const ConfigNode& item : node.items) depth = std::max(depth, depth_of(item));
  for (const ConfigNode::Entry& entry : node.entries) depth = std::max(depth, depth_of(entry.value));
  return depth + (node.kind == ConfigNode::Kind::list || node.kind == ConfigNode::Kind::map ? 1 : 0);
}

bool is_nothing(const ConfigNode& node) { return node.kind == ConfigNode::Kind::null && node.scalar.empty(); }

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  ConfigNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) fail(mark, "a second document begins here", "one document in a file");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    ConfigNode node = at(mark);
    node.scalar = explicit_null(mark);
    add(std::move(node), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    ConfigNode node = at(mark);
    node.kind = ConfigNode::Kind::scalar;
    node.scalar = value;
    node.quoted = tag == "!" || tag == kStringTag;
    if (!node.quoted) check_tag(mark, tag);
    add(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchored_.find(anchor);
    if (target == anchored_.end()) fail(mark, "an alias stands inside the node that it names");
    if (static_cast<int>(open_.size()) + depth_of(target->second) > kMaxNesting) too_deep(mark);
    count(target->second, {mark.line + 1, mark.column + 1});
    place(target->second, YAML::NullAnchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(ConfigNode::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(ConfigNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    ConfigNode node;
    YAML::anchor_t anchor;
    bool key_pending = false;  // a map whose last entry waits for its value
  };

  [[noreturn]] void fail(const YAML::Mark& mark, std::string problem, std::string expected = {}) const {
    throw_at(file_, {mark.line + 1, mark.column + 1}, std::move(problem), std::move(expected));
  }
  [[noreturn]] void too_deep(const YAML::Mark& mark) const {
    fail(mark, "is nested too deeply", fmt::format("at most {} levels", kMaxNesting));
  }
  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (!tag.empty() && tag != "?" && tag != "!") fail(mark, "YAML tag " + in_quotes(tag) + " has no meaning here");
  }
  static ConfigNode at(const YAML::Mark& mark) {
    ConfigNode node;
    node.line = mark.line + 1;
    node.column = mark.column + 1;
    return node;
  }
  /// The spelling of a null that is written out, else empty.
  [[nodiscard]] std::string explicit_null(const YAML::Mark& mark) const {
    if (mark.pos < 0 || static_cast<std::size_t>(mark.pos) >= text_.size()) return {};
    const std::string_view rest = text_.substr(static_cast<std::size_t>(mark.pos));
    static constexpr std::array<std::string_view, 4> kSpellings = {"~", "null", "Null", "NULL"};
    for (const std::string_view spelling : kSpellings) {
      if (!rest.starts_with(spelling)) continue;
      const std::string_view after = rest.substr(spelling.size());
      if (after.empty() || std::string_view(" \t\r\n,]}").find(after.front()) != std::string_view::npos) {
        return std::string(spelling);
      }
    }
    return {};
  }

  void open(ConfigNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    check_tag(mark, tag);
    if (open_.size() >= static_cast<std::size_t>(kMaxNesting)) too_deep(mark);
    ConfigNode node = at(mark);
    node.kind = kind;
    ++nodes_;
    open_.push_back({std::move(node), anchor});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    place(std::move(done.node), done.anchor);
  }
  void add(ConfigNode node, YAML::anchor_t anchor) {
    ++nodes_;
    check_size({node.line, node.column});
    place(std::move(node), anchor);
  }
  void count(const ConfigNode& copied, SourcePosition position) {
    const Size size = size_of(copied);
    nodes_ += size.nodes;
    bytes_ += size.bytes;
    check_size(position);
  }
  void check_size(SourcePosition position) const {
    if (nodes_ <= kMaxNodes && bytes_ <= kMaxExpandedBytes) return;
    throw_at(file_, position, "has too many values, aliases expanded", fmt::format("at most {}", kMaxNodes));
  }
  void place(ConfigNode node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) {
      count(node, {node.line, node.column});
      anchored_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == ConfigNode::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.key_pending) {
      ConfigNode::Entry& entry = parent.node.entries.back();
      entry.value = std::move(node);
      if (is_nothing(entry.value)) {  // yaml-cpp puts it where the next token stands
        entry.value.line = entry.line;
        entry.value.column = entry.column;
      }
      parent.key_pending = false;
    } else {
      if (node.kind != ConfigNode::Kind::scalar) {
        throw_at(file_, {node.line, node.column}, "a key is not a plain text", "key: value");
      }
      parent.node.entries.push_back({std::move(node.scalar), node.line, node.column, {}});
      parent.key_pending = true;
    }
  }

  std::string_view text_;
  std::string file_;
  int documents_ = 0;
  std::size_t nodes_ = 0, bytes_ = 0;
  ConfigNode root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, ConfigNode> anchored_;
};

/// yaml-cpp's scanner keeps every token of a flow collection that is never closed: refuse masses of brackets at once.
void check_brackets(std::string_view text, const std::string& file) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++open;
    if (text[i] == ']' || text[i] == '}') open = std::max(0, open - 1);
    if (open > kMaxOpenBrackets) {
      throw_at(file, PositionFinder(text).at(i), "is nested too deeply", fmt::format("at most {} levels", kMaxNesting));
    }
  }
}

}  // namespace

ConfigNode parse_yaml(std::string_view text, const std::string& file) {
  text = checked_source(text, file, kMaxYamlBytes);
  check_brackets(text, file);
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(text, file);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    const bool known = error.mark.line >= 0 && error.mark.column >= 0;
    throw_at(file, known ? SourcePosition{error.mark.line + 1, error.mark.column + 1} : SourcePosition{},
             "YAML syntax: " + error.msg);
  }
  return builder.take_root();
}

}  // namespace tandem
