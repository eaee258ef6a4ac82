// SPDX-License-Identifier: Apache-2.0
// Which shipped config a machine's name in published data stands for (configs/reference.yaml).
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

/// Names as data files write them, to bare names of shipped configs.
struct ReferenceNames {
  std::map<std::string, std::string, std::less<>> chips;
  std::map<std::string, std::string, std::less<>> clusters;

  /// Exact names only; nothing if no shipped config stands for the name.
  [[nodiscard]] std::optional<std::string> chip_for(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> cluster_for(std::string_view name) const;
};

/// Throws ConfigError. By default reads `reference.yaml` of config_directory().
ReferenceNames load_reference_names(const std::filesystem::path& file);
ReferenceNames load_reference_names();

}  // namespace tandem
