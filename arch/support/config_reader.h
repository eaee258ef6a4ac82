// SPDX-License-Identifier: Apache-2.0
// From a parsed file to typed values, gathering every error of meaning before complaining.
//
//   ConfigFile file(path);
//   ConfigSection root = file.root();
//   chip.clock = root.get<Frequency>("clock", positive);
//   chip.tdp = root.get_or("tdp", Power(0), not_negative);
//   ConfigSection dma = root.section("dma");
//   ...
//   file.finish();  // unknown keys, and everything found so far, in one ConfigError
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arch/support/config_tree.h"
#include "arch/support/enum_names.h"
#include "arch/support/error.h"
#include "arch/support/units.h"

namespace tandem {

/// Outcome of a range check: empty if fine, else what was expected ("a positive value").
using Check = std::function<std::string(double)>;
extern const Check any_value;
extern const Check positive;
extern const Check not_negative;
extern const Check fraction;                   ///< 0 < x <= 1
Check between(double lowest, double highest);  ///< both included

template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires {
  EnumNames<T>::values;
};

class ConfigSection;

/// One file being read; owns the tree and the complaints.
class ConfigFile {
 public:
  explicit ConfigFile(const std::filesystem::path& file);
  ConfigFile(ConfigNode tree, std::string file);  ///< for text that did not come from a file
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;
  ~ConfigFile();

  [[nodiscard]] ConfigSection root();
  [[nodiscard]] const std::string& name() const;
  /// A path written in this file, relative to its folder.
  [[nodiscard]] std::filesystem::path resolve(const std::string& path) const;
  /// Adds a complaint about meaning that no single key shows.
  void complain(const ConfigNode* at, std::string path, std::string problem, std::string expected = {});
  /// Keys nobody asked for, by path, of all sections opened so far.
  [[nodiscard]] std::vector<Diagnostic> unused_keys() const;
  /// Throws ConfigError if anything was wrong, unknown keys included.
  void finish();
  /// The same, but unknown keys are allowed (Hugging Face configs); returns their paths.
  std::vector<std::string> finish_allowing_unknown();

 private:
  friend class ConfigSection;
  struct State;
  std::unique_ptr<State> state_;
};

/// One map inside a file. Missing or wrong values are noted in the file and a default-constructed value is returned,
/// so that reading goes on and all errors come out together. Cheap to copy; must not outlive its ConfigFile.
class ConfigSection {
 public:
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] bool present() const { return node_ != nullptr; }  ///< the section itself stands in the file
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] const ConfigNode* node(std::string_view key) const;  ///< raw, marks the key as used; nullptr if absent

  /// Required value. An absent optional key may also be written as an explicit null. T: bool, int64_t, double,
  /// std::string, a quantity, Seconds, or a NamedEnum.
  template <typename T>
  T get(std::string_view key, const Check& check = any_value) const;
  template <typename T>
  T get_or(std::string_view key, T fallback, const Check& check = any_value) const;
  template <typename T>
  std::optional<T> maybe(std::string_view key, const Check& check = any_value) const;
  /// A list of scalars; a lone scalar counts as a list of one, an absent key as an empty list.
  template <typename T>
  std::vector<T> list(std::string_view key, const Check& check = any_value) const;

  [[nodiscard]] ConfigSection section(std::string_view key) const;                ///< required map
  [[nodiscard]] ConfigSection optional_section(std::string_view key) const;       ///< present() tells
  [[nodiscard]] std::vector<ConfigSection> sections(std::string_view key) const;  ///< list of maps, may be absent

  void complain(std::string_view key, std::string problem, std::string expected = {}) const;

 private:
  friend class ConfigFile;
  struct Position {
    int line = 0, column = 0;
  };
  ConfigSection(ConfigFile::State* state, const ConfigNode* node, std::string path, Position position);
  [[nodiscard]] ConfigSection absent(std::string_view key) const;
  [[nodiscard]] ConfigSection child(const ConfigNode& node, std::string path, Position position) const;
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] const ConfigNode* required(std::string_view key) const;
  [[nodiscard]] const ConfigNode* optional(std::string_view key) const;  ///< nullptr also for an explicit null
  void complain_at(const ConfigNode& node, std::string_view path, UnitError error) const;
  template <typename T>
  std::optional<T> convert(const ConfigNode& node, const std::string& path, const Check& check) const;

  ConfigFile::State* state_;
  const ConfigNode* node_;
  std::string path_;
  Position position_;  ///< of the section's key
};

/// One scalar as a T, or why not. T: bool, int64_t, double, std::string, a quantity or Seconds.
template <typename T>
Parsed<T> read_scalar(const ConfigNode& node);

/// The complaint about a scalar that is none of `names`.
UnitError unknown_name(const ConfigNode& node, const std::vector<std::string>& names);

template <NamedEnum T>
Parsed<T> read_scalar(const ConfigNode& node) {
  if (node.kind == ConfigNode::Kind::scalar) {
    if (const auto value = enum_from_name<T>(node.scalar)) return *value;
  }
  std::vector<std::string> names;
  for (const auto& [value, name] : EnumNames<T>::values) names.emplace_back(name);
  return unknown_name(node, names);
}

/// What a range check looks at: the value in base units; nothing for texts, truth values and names.
template <typename T>
std::optional<double> checked_value(const T& value) {
  if constexpr (std::same_as<T, Seconds>) {
    return value.count();
  } else if constexpr (requires { value.value(); }) {
    return static_cast<double>(value.value());
  } else if constexpr (std::is_arithmetic_v<T> && !std::same_as<T, bool>) {
    return static_cast<double>(value);
  } else {
    return std::nullopt;
  }
}

template <typename T>
std::optional<T> ConfigSection::convert(const ConfigNode& node, const std::string& path, const Check& check) const {
  Parsed<T> parsed = read_scalar<T>(node);
  if (auto* error = std::get_if<UnitError>(&parsed)) {
    complain_at(node, path, std::move(*error));
    return std::nullopt;
  }
  T& value = std::get<T>(parsed);
  if (const auto number = checked_value(value)) {
    if (std::string expected = check(*number); !expected.empty()) {
      complain_at(node, path, {in_quotes(node.scalar) + " is out of range", std::move(expected), {}});
      return std::nullopt;
    }
  }
  return std::move(value);
}

template <typename T>
T ConfigSection::get(std::string_view key, const Check& check) const {
  const ConfigNode* value = required(key);
  return value == nullptr ? T{} : convert<T>(*value, path_of(key), check).value_or(T{});
}

template <typename T>
T ConfigSection::get_or(std::string_view key, T fallback, const Check& check) const {
  const ConfigNode* value = optional(key);
  return value == nullptr ? fallback : convert<T>(*value, path_of(key), check).value_or(fallback);
}

template <typename T>
std::optional<T> ConfigSection::maybe(std::string_view key, const Check& check) const {
  const ConfigNode* value = optional(key);
  return value == nullptr ? std::nullopt : convert<T>(*value, path_of(key), check);
}

template <typename T>
std::vector<T> ConfigSection::list(std::string_view key, const Check& check) const {
  std::vector<T> values;
  const ConfigNode* whole = optional(key);
  if (whole == nullptr) return values;
  const auto read = [&](const ConfigNode& node, const std::string& path) {
    if (auto value = convert<T>(node, path, check)) values.push_back(std::move(*value));
  };
  if (whole->kind != ConfigNode::Kind::list) {
    read(*whole, path_of(key));
    return values;
  }
  for (std::size_t i = 0; i < whole->items.size(); ++i) {
    read(whole->items[i], path_of(key) + "[" + std::to_string(i) + "]");
  }
  return values;
}

}  // namespace tandem
