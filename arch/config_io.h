// SPDX-License-Identifier: Apache-2.0
// Field tables ("tensor_cores.rows", field, check, presence) to and from YAML.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "arch/support/config_reader.h"

namespace tandem {

enum class Presence { required, optional };

/// "hbm.timing.trcd" is {"hbm.timing", "trcd"}.
std::pair<std::string_view, std::string_view> split_path(std::string_view path);

/// Reads the fields of a table, each from the section that its path names. A field that is absent and optional keeps
/// its value.
class FieldReader {
 public:
  FieldReader(ConfigSection root, std::initializer_list<std::string_view> optional_sections);

  template <typename T>
  void operator()(std::string_view path, T& field, const Check& check, Presence presence) {
    const auto [parent, key] = split_path(path);
    const ConfigSection& section = section_of(parent);
    field = presence == Presence::required ? section.get<T>(key, check) : section.get_or<T>(key, field, check);
  }

  template <typename K, typename V>
  void operator()(std::string_view path, std::map<K, V>& entries, const Check& check, Presence presence) {
    const ConfigSection& section = section_of(path);
    if (section.present()) entries.clear();
    for (const std::string& key : section.keys()) {
      Parsed<K> parsed = parse_key<K>(key);
      static_cast<void>(section.node(key));  // known by now; complaints about it are our own
      if (auto* error = std::get_if<UnitError>(&parsed)) {
        section.complain(key, error->problem, error->expected);
      } else {
        entries[std::get<K>(parsed)] = section.get<V>(key, check);
      }
    }
    if (presence == Presence::required && section.present() && entries.empty()) {
      const auto [parent, name] = split_path(path);
      section_of(parent).complain(name, "is empty", "at least one entry");
    }
  }

  [[nodiscard]] const ConfigSection& section_of(std::string_view path);

 private:
  template <typename K>
  static Parsed<K> parse_key(const std::string& key) {
    if constexpr (NamedEnum<K>) {
      ConfigNode node;
      node.kind = ConfigNode::Kind::scalar;
      node.scalar = key;
      return read_scalar<K>(node);
    } else if constexpr (std::is_same_v<K, std::string>) {
      return key;
    } else {
      return parse_quantity<K>(key);
    }
  }

  std::set<std::string, std::less<>> optional_;
  std::map<std::string, ConfigSection, std::less<>> sections_;
};

/// A value as a YAML scalar that the reader takes back exactly.
std::string yaml_text(bool value);
std::string yaml_text(std::int64_t value);
std::string yaml_text(double value);
std::string yaml_text(const std::string& value);  ///< always quoted
template <NamedEnum T>
std::string yaml_text(T value) {
  return std::string(name_of(value));
}
template <typename Tag, typename Rep>
std::string yaml_text(Quantity<Tag, Rep> value) {
  return to_exact_text(value);
}
inline std::string yaml_text(Seconds value) { return to_exact_text(value); }

/// Writes the fields of a table as nested block YAML; fields of one section must come in a row.
class FieldWriter {
 public:
  /// Everything is written below `root` ("chip"), or at the top if empty.
  explicit FieldWriter(std::string root = {}) : root_(std::move(root)) {}

  template <typename T>
  void operator()(std::string_view path, const T& field, const Check&, Presence) {
    const auto [parent, key] = split_path(path);
    put(parent, key, yaml_text(field));
  }

  template <typename K, typename V>
  void operator()(std::string_view path, const std::map<K, V>& entries, const Check&, Presence) {
    for (const auto& [key, value] : entries) {
      if constexpr (std::is_same_v<K, std::string>) {
        put(path, key, yaml_text(value));
      } else {
        put(path, yaml_text(key), yaml_text(value));
      }
    }
  }

  /// Appends "key: text" in the section `path`.
  void put(std::string_view path, std::string_view key, std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string root_;
  std::string section_;  ///< the one last written to, under root_
  std::string text_;
};

}  // namespace tandem
