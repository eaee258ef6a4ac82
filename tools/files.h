// SPDX-License-Identifier: Apache-2.0
// Files of users: read whole, written whole, and complained about before work starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tandem {

/// ConfigError for a missing, unreadable or oversized file, or a folder.
std::string read_file(const std::filesystem::path& file, std::int64_t largest);

/// Writes beside the file and renames, so that no reader sees half of it. ConfigError if that fails.
void write_file(const std::filesystem::path& file, std::string_view text);

/// ConfigError unless `file` can be created (its folder exists and may be written, and it is no folder itself).
void require_writable(const std::filesystem::path& file);

}  // namespace tandem
