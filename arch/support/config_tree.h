// SPDX-License-Identifier: Apache-2.0
// A parsed YAML or JSON file with the position of every node; the one form that all readers work on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "arch/support/error.h"

namespace tandem {

struct ConfigNode {
  enum class Kind { null, scalar, list, map };
  struct Entry;

  Kind kind = Kind::null;
  std::string scalar;
  bool quoted = false;  ///< the scalar was a quoted string, so it is no number
  std::vector<ConfigNode> items;
  std::vector<Entry> entries;  ///< in file order; duplicate keys are kept for the reader to refuse
  int line = 0, column = 0;    ///< from 1

  [[nodiscard]] const ConfigNode* find(std::string_view key) const;
};

struct ConfigNode::Entry {
  std::string key;
  int line = 0, column = 0;
  ConfigNode value;
};

inline constexpr int kMaxNesting = 64;
inline constexpr std::size_t kMaxYamlBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxJsonBytes = std::size_t{16} << 20;

/// Throws ConfigError on a syntax error (with position), text that is not UTF-8, nesting deeper than kMaxNesting, or
/// too large a text. YAML anchors and aliases are resolved, their expansion is bounded; tags other than !!str are
/// refused. An explicit null (`~`, `null`) keeps its spelling in `scalar`; a key with nothing after it has none.
ConfigNode parse_yaml(std::string_view text, const std::string& file);
ConfigNode parse_json(std::string_view text, const std::string& file);
/// By extension: .json, else YAML; either also compressed (.xz). A missing, unreadable, oversized or binary file is a
/// ConfigError.
ConfigNode load_config_tree(const std::filesystem::path& file);

/// The nearest of `known` by edit distance, or empty if none is near.
std::string nearest_name(std::string_view text, const std::vector<std::string>& known);

}  // namespace tandem
