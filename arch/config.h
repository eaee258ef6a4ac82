// SPDX-License-Identifier: Apache-2.0
// Reading and writing the machine descriptions. Formats: docs/formats.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "arch/cluster.h"
#include "arch/design_space.h"
#include "arch/technology.h"

namespace tandem {

/// Each reader throws ConfigError with every complaint about the file at once.
Chip load_chip(const std::filesystem::path& file);
/// `chip:` names a chip file relative to this one, or a shipped chip, or holds the chip itself.
Cluster load_cluster(const std::filesystem::path& file);
Technology load_technology(const std::filesystem::path& file);

/// The same from YAML text; `name` stands for the file in complaints, and relative paths start from its folder.
Chip load_chip_text(std::string_view text, const std::string& name);
Cluster load_cluster_text(std::string_view text, const std::string& name);
Technology load_technology_text(std::string_view text, const std::string& name);

/// Resolved text, which the readers accept again (a cluster carries its chip inline).
std::string to_yaml(const Chip& chip);
std::string to_yaml(const Cluster& cluster);
std::string to_yaml(const Technology& technology);

/// The shipped configs: $TANDEM_CONFIGS, else beside the executable's install, else the source tree's configs/.
std::filesystem::path config_directory();
/// A file as given, or `configs/<kind>/<name>.yaml` (`.json` for models) for a bare name ("a100-80gb"). Throws
/// ConfigError with near misses.
std::filesystem::path find_config(std::string_view kind, const std::string& name_or_path);

}  // namespace tandem
