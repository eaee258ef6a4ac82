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
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

  /// Required value. T: bool, int64_t, double, std::string, a quantity, Seconds, or a NamedEnum.
  template <typename T>
  T get(std::string_view key, const Check& check = any_value) const;
  template <typename T>
  T get_or(std::string_view key, T fallback, const Check& check = any_value) const;
  template <typename T>
  std::optional<T> maybe(std::string_view key, const Check& check = any_value) const;
  /// A list of scalars; a lone scalar counts as a list of one.
  template <typename T>
  std::vector<T> list(std::string_view key, const Check& check = any_value) const;

  [[nodiscard]] ConfigSection section(std::string_view key) const;                ///< required map
  [[nodiscard]] ConfigSection optional_section(std::string_view key) const;       ///< present() tells
  [[nodiscard]] std::vector<ConfigSection> sections(std::string_view key) const;  ///< list of maps, may be absent

  void complain(std::string_view key, std::string problem, std::string expected = {}) const;

 private:
  friend class ConfigFile;
  ConfigSection(ConfigFile::State* state, const ConfigNode* node, std::string path);

  ConfigFile::State* state_;
  const ConfigNode* node_;
  std::string path_;
};

}  // namespace tandem
