// SPDX-License-Identifier: Apache-2.0
#include "arch/support/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "arch/support/number.h"

namespace tandem {
namespace {

bool is_map(const ConfigNode& node) { return node.kind == ConfigNode::Kind::map; }
bool is_explicit_null(const ConfigNode& node) { return node.kind == ConfigNode::Kind::null && !node.scalar.empty(); }

std::string kind_text(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::null: return node.scalar.empty() ? "has no value" : "is " + node.scalar;
    case ConfigNode::Kind::list: return "is a list";
    case ConfigNode::Kind::map: return "is a map";
    case ConfigNode::Kind::scalar: return "is " + in_quotes(node.scalar);
  }
  return {};
}

std::string joined_path(std::string_view parent, std::string_view key) {
  std::string path(parent);
  if (!path.empty()) path += '.';
  return path.append(key);
}

std::string indexed_path(std::string_view list, std::size_t index) { return fmt::format("{}[{}]", list, index); }

Diagnostic twice(const std::string& file, const ConfigNode::Entry& again, int first_line, std::string path) {
  return {file,
          again.line,
          again.column,
          std::move(path),
          fmt::format("is given twice (first in line {})", first_line),
          "each key once",
          {}};
}

void find_duplicates(const ConfigNode& node, const std::string& path, const std::string& file,
                     std::vector<Diagnostic>& found) {
  std::map<std::string_view, int> lines;
  for (const ConfigNode::Entry& entry : node.entries) {
    const std::string entry_path = joined_path(path, entry.key);
    const auto [first, is_new] = lines.emplace(entry.key, entry.line);
    if (!is_new) found.push_back(twice(file, entry, first->second, entry_path));
    find_duplicates(entry.value, entry_path, file, found);
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    find_duplicates(node.items[i], indexed_path(path, i), file, found);
  }
}

}  // namespace

const Check any_value = [](double) { return std::string(); };
const Check positive = [](double x) { return x > 0 ? std::string() : std::string("a positive value"); };
const Check not_negative = [](double x) { return x >= 0 ? std::string() : std::string("a value of at least 0"); };
const Check fraction = [](double x) {
  return x > 0 && x <= 1 ? std::string() : std::string("a fraction above 0 and at most 1");
};

Check between(double lowest, double highest) {
  return [lowest, highest](double x) {
    return x >= lowest && x <= highest ? std::string() : fmt::format("a value from {} to {}", lowest, highest);
  };
}

/// Which keys of one map were asked for.
struct Opened {
  const ConfigNode* node;
  std::string path;
  std::vector<std::string> asked;
  std::vector<std::string> used;
};

struct ConfigFile::State {
  std::string name;
  ConfigNode tree;
  std::vector<Diagnostic> diagnostics;
  std::vector<Opened> opened;
  std::map<const ConfigNode*, std::size_t> index;  // into opened; looked up, never walked

  Opened& open(const ConfigNode& node, const std::string& path) {
    const auto [place, is_new] = index.emplace(&node, opened.size());
    if (is_new) opened.push_back({&node, path, {}, {}});
    return opened[place->second];
  }
  void note(std::vector<std::string> Opened::*names, const ConfigNode& node, std::string_view key) {
    std::vector<std::string>& list = opened[index.at(&node)].*names;
    if (std::find(list.begin(), list.end(), key) == list.end()) list.emplace_back(key);
  }
};

ConfigFile::ConfigFile(const std::filesystem::path& file) : ConfigFile(load_config_tree(file), file.string()) {}

ConfigFile::ConfigFile(ConfigNode tree, std::string file) : state_(std::make_unique<State>()) {
  state_->name = std::move(file);
  state_->tree = std::move(tree);
  find_duplicates(state_->tree, {}, state_->name, state_->diagnostics);
}

ConfigFile::~ConfigFile() = default;

ConfigSection ConfigFile::root() {
  const ConfigNode& tree = state_->tree;
  const ConfigSection::Position position{std::max(tree.line, 1), std::max(tree.column, 1)};
  if (is_map(tree)) {
    state_->open(tree, {});
    return {state_.get(), &tree, {}, position};
  }
  const std::string problem =
      tree.kind == ConfigNode::Kind::null ? "the file is empty" : "the whole file " + kind_text(tree);
  state_->diagnostics.push_back(
      {state_->name, position.line, position.column, {}, problem, "a map of keys and values", {}});
  return {state_.get(), nullptr, {}, position};
}

const std::string& ConfigFile::name() const { return state_->name; }

std::filesystem::path ConfigFile::resolve(const std::string& path) const {
  return std::filesystem::path(state_->name).parent_path() / path;
}

void ConfigFile::complain(const ConfigNode* at, std::string path, std::string problem, std::string expected) {
  const int line = at == nullptr ? 0 : at->line, column = at == nullptr ? 0 : at->column;
  state_->diagnostics.push_back(
      {state_->name, line, column, std::move(path), std::move(problem), std::move(expected), {}});
}

std::vector<Diagnostic> ConfigFile::unused_keys() const {
  const auto contains = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<Diagnostic> unused;
  for (const Opened& section : state_->opened) {
    for (const ConfigNode::Entry& entry : section.node->entries) {
      if (contains(section.used, entry.key)) continue;
      const bool known = contains(section.asked, entry.key);
      unused.push_back({state_->name,
                        entry.line,
                        entry.column,
                        joined_path(section.path, entry.key),
                        known ? "key has no effect here" : "unknown key",
                        {},
                        known ? std::string() : nearest_name(entry.key, section.asked)});
    }
  }
  return unused;
}

void ConfigFile::finish() {
  std::vector<Diagnostic> all = unused_keys();
  all.insert(all.begin(), state_->diagnostics.begin(), state_->diagnostics.end());
  if (all.empty()) return;
  std::stable_sort(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  throw ConfigError(std::move(all));
}

std::vector<std::string> ConfigFile::finish_allowing_unknown() {
  std::vector<std::string> paths;
  for (Diagnostic& unused : unused_keys()) paths.push_back(std::move(unused.path));
  for (Opened& section : state_->opened) {
    for (const ConfigNode::Entry& entry : section.node->entries) section.used.push_back(entry.key);
  }
  finish();
  return paths;
}

ConfigSection::ConfigSection(ConfigFile::State* state, const ConfigNode* node, std::string path, Position position)
    : state_(state), node_(node), path_(std::move(path)), position_(position) {}

bool ConfigSection::has(std::string_view key) const {
  if (node_ == nullptr) return false;
  state_->note(&Opened::asked, *node_, key);
  return node_->find(key) != nullptr;
}

std::vector<std::string> ConfigSection::keys() const {
  std::vector<std::string> names;
  if (node_ == nullptr) return names;
  for (const ConfigNode::Entry& entry : node_->entries) names.push_back(entry.key);
  return names;
}

const ConfigNode* ConfigSection::node(std::string_view key) const {
  if (!has(key)) return nullptr;
  state_->note(&Opened::used, *node_, key);
  return node_->find(key);
}

std::string ConfigSection::path_of(std::string_view key) const { return joined_path(path_, key); }

const ConfigNode* ConfigSection::required(std::string_view key) const {
  const ConfigNode* value = node(key);
  if (value == nullptr && node_ != nullptr) complain(key, "required key is missing");
  return value;
}

const ConfigNode* ConfigSection::optional(std::string_view key) const {
  const ConfigNode* value = node(key);
  return value == nullptr || is_explicit_null(*value) ? nullptr : value;
}

void ConfigSection::complain_at(const ConfigNode& node, std::string_view path, UnitError error) const {
  state_->diagnostics.push_back({state_->name, node.line, node.column, std::string(path), std::move(error.problem),
                                 std::move(error.expected), std::move(error.suggestion)});
}

void ConfigSection::complain(std::string_view key, std::string problem, std::string expected) const {
  Position position = position_;
  const std::vector<ConfigNode::Entry> none;
  for (const ConfigNode::Entry& entry : node_ == nullptr ? none : node_->entries) {
    if (entry.key != key) continue;
    position = {entry.line, entry.column};
    break;
  }
  state_->diagnostics.push_back(
      {state_->name, position.line, position.column, path_of(key), std::move(problem), std::move(expected), {}});
}

ConfigSection ConfigSection::absent(std::string_view key) const { return {state_, nullptr, path_of(key), position_}; }

ConfigSection ConfigSection::child(const ConfigNode& node, std::string path, Position position) const {
  if (!is_map(node)) {
    complain_at(node, path, {kind_text(node), "a map of keys and values", {}});
    return {state_, nullptr, std::move(path), position};
  }
  state_->open(node, path);
  return {state_, &node, std::move(path), position};
}

ConfigSection ConfigSection::section(std::string_view key) const {
  const ConfigNode* value = required(key);
  if (value == nullptr) return absent(key);
  const auto entry = std::find_if(node_->entries.begin(), node_->entries.end(),
                                  [&](const ConfigNode::Entry& e) { return &e.value == value; });
  return child(*value, path_of(key), {entry->line, entry->column});
}

ConfigSection ConfigSection::optional_section(std::string_view key) const {
  return optional(key) == nullptr ? absent(key) : section(key);
}

std::vector<ConfigSection> ConfigSection::sections(std::string_view key) const {
  std::vector<ConfigSection> found;
  const ConfigNode* value = optional(key);
  if (value == nullptr) return found;
  if (value->kind != ConfigNode::Kind::list) {
    complain_at(*value, path_of(key), {kind_text(*value), "a list of maps", {}});
    return found;
  }
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    const ConfigNode& item = value->items[i];
    ConfigSection section = child(item, indexed_path(path_of(key), i), {item.line, item.column});
    if (section.present()) found.push_back(std::move(section));
  }
  return found;
}

UnitError unknown_name(const ConfigNode& node, const std::vector<std::string>& names) {
  const std::string suggestion = node.kind == ConfigNode::Kind::scalar ? nearest_name(node.scalar, names) : "";
  return {kind_text(node), fmt::format("one of {}", fmt::join(names, ", ")), suggestion};
}

namespace {

UnitError not_a(const ConfigNode& node, std::string expected) { return {kind_text(node), std::move(expected), {}}; }

template <typename T>
Parsed<T> read_quantity(const ConfigNode& node) {
  if (node.kind == ConfigNode::Kind::scalar) return parse_quantity<T>(node.scalar);
  return not_a(node, std::get<UnitError>(parse_quantity<T>("?")).expected);
}

std::variant<Decimal, UnitError> read_number(const ConfigNode& node, const std::string& expected) {
  if (node.kind != ConfigNode::Kind::scalar) return not_a(node, expected);
  if (node.quoted) return UnitError{in_quotes(node.scalar) + " is quoted, so it is a text", expected, {}};
  auto number = parse_number(node.scalar);
  if (auto* error = std::get_if<NumberError>(&number)) return UnitError{error->problem, expected, {}};
  return std::get<Decimal>(std::move(number));
}

}  // namespace

template <>
Parsed<bool> read_scalar<bool>(const ConfigNode& node) {
  if (node.kind == ConfigNode::Kind::scalar && !node.quoted) {
    if (node.scalar == "true" || node.scalar == "True") return true;
    if (node.scalar == "false" || node.scalar == "False") return false;
  }
  return not_a(node, "true or false");
}

template <>
Parsed<std::int64_t> read_scalar<std::int64_t>(const ConfigNode& node) {
  const std::string expected = "a whole number such as 12 or 1e3";
  const auto number = read_number(node, expected);
  if (const auto* error = std::get_if<UnitError>(&number)) return *error;
  const auto value = to_integer(std::get<Decimal>(number));
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  const bool has_fraction = std::get<RangeError>(value) == RangeError::not_whole;
  return UnitError{
      in_quotes(node.scalar) + (has_fraction ? " is not a whole number" : " is beyond the range of 64 bits"),
      expected,
      {}};
}

template <>
Parsed<double> read_scalar<double>(const ConfigNode& node) {
  const std::string expected = "a number such as 12, 0.5 or 1e3";
  const auto number = read_number(node, expected);
  if (const auto* error = std::get_if<UnitError>(&number)) return *error;
  const auto value = to_double(std::get<Decimal>(number));
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return UnitError{in_quotes(node.scalar) + " is beyond the range of 64 bits", expected, {}};
}

template <>
Parsed<std::string> read_scalar<std::string>(const ConfigNode& node) {
  if (node.kind == ConfigNode::Kind::scalar) return node.scalar;
  return not_a(node, "a text");
}

#define TANDEM_READ_QUANTITY(T)                      \
  template <>                                        \
  Parsed<T> read_scalar<T>(const ConfigNode& node) { \
    return read_quantity<T>(node);                   \
  }
TANDEM_READ_QUANTITY(Bytes)
TANDEM_READ_QUANTITY(Flops)
TANDEM_READ_QUANTITY(Cycles)
TANDEM_READ_QUANTITY(Bandwidth)
TANDEM_READ_QUANTITY(FlopRate)
TANDEM_READ_QUANTITY(Frequency)
TANDEM_READ_QUANTITY(Area)
TANDEM_READ_QUANTITY(Energy)
TANDEM_READ_QUANTITY(Power)
TANDEM_READ_QUANTITY(Length)
TANDEM_READ_QUANTITY(Seconds)
#undef TANDEM_READ_QUANTITY

}  // namespace tandem
