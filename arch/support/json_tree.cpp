// SPDX-License-Identifier: Apache-2.0
// JSON through nlohmann's event interface (not recursive); positions come from watching how far it has read.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "arch/support/config_tree.h"
#include "arch/support/source_text.h"

namespace tandem {
namespace {

/// An input iterator that tells where the parser is.
class WatchedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  WatchedIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  WatchedIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  WatchedIterator operator++(int) {
    WatchedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const WatchedIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

class JsonBuilder {
 public:
  using Json = nlohmann::json;

  JsonBuilder(std::string_view text, std::string file, const char* const* reached)
      : text_(text), file_(std::move(file)), reached_(reached), positions_(text) {}

  ConfigNode take_root() { return std::move(root_); }

  bool null() { return scalar(ConfigNode::Kind::null, "null", begin_token()); }
  bool boolean(bool value) { return scalar(ConfigNode::Kind::scalar, value ? "true" : "false", begin_token()); }
  bool number_integer(Json::number_integer_t) { return number(); }
  bool number_unsigned(Json::number_unsigned_t) { return number(); }
  bool number_float(Json::number_float_t, const Json::string_t&) { return number(); }
  bool string(Json::string_t& value) {
    ConfigNode node = at(begin_token());
    node.kind = ConfigNode::Kind::scalar;
    node.scalar = std::move(value);
    node.quoted = true;
    place(std::move(node));
    return true;
  }
  bool binary(Json::binary_t&) { return false; }  // not in JSON text
  bool start_object(std::size_t) { return open(ConfigNode::Kind::map); }
  bool start_array(std::size_t) { return open(ConfigNode::Kind::list); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(Json::string_t& name) {
    const SourcePosition position = positions_.at(begin_token());
    open_.back().entries.push_back({std::move(name), position.line, position.column, {}});
    return true;
  }
  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) {
    const std::string message = error.what();
    const std::size_t detail = message.find(": ");
    throw_at(file_, PositionFinder(text_).at(byte == 0 ? 0 : byte - 1),
             "JSON " + (detail == std::string::npos ? message : message.substr(detail + 2)));
  }

 private:
  /// Offset of the token that has just been read. Between the token before and this one stands only punctuation.
  std::size_t begin_token() {
    const std::size_t begin = text_.find_first_not_of(" \t\r\n,:]}", cursor_);
    cursor_ = static_cast<std::size_t>(*reached_ - text_.data());
    return begin;
  }
  ConfigNode at(std::size_t offset) {
    const SourcePosition position = positions_.at(offset);
    ConfigNode node;
    node.line = position.line;
    node.column = position.column;
    return node;
  }
  bool scalar(ConfigNode::Kind kind, std::string text, std::size_t offset) {
    ConfigNode node = at(offset);
    node.kind = kind;
    node.scalar = std::move(text);
    place(std::move(node));
    return true;
  }
  bool number() {
    const std::size_t begin = begin_token();
    const std::size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", begin), text_.size());
    return scalar(ConfigNode::Kind::scalar, std::string(text_.substr(begin, end - begin)), begin);
  }
  bool open(ConfigNode::Kind kind) {
    const std::size_t offset = begin_token();
    ConfigNode node = at(offset);
    node.kind = kind;
    if (open_.size() >= static_cast<std::size_t>(kMaxNesting)) {
      throw_at(file_, {node.line, node.column}, "is nested too deeply", fmt::format("at most {} levels", kMaxNesting));
    }
    open_.push_back(std::move(node));
    return true;
  }
  bool close() {
    ConfigNode done = std::move(open_.back());
    open_.pop_back();
    place(std::move(done));
    return true;
  }
  void place(ConfigNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().kind == ConfigNode::Kind::list) {
      open_.back().items.push_back(std::move(node));
    } else {
      open_.back().entries.back().value = std::move(node);
    }
  }

  std::string_view text_;
  std::string file_;
  const char* const* reached_;
  PositionFinder positions_;
  std::size_t cursor_ = 0;
  ConfigNode root_;
  std::vector<ConfigNode> open_;
};

}  // namespace

ConfigNode parse_json(std::string_view text, const std::string& file) {
  text = checked_source(text, file, kMaxJsonBytes);
  const char* reached = text.data();
  JsonBuilder builder(text, file, &reached);
  nlohmann::json::sax_parse(WatchedIterator(text.data(), &reached),
                            WatchedIterator(text.data() + text.size(), &reached), &builder);
  return builder.take_root();
}

}  // namespace tandem
