// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tandem {

/// Writes report.html (one self-contained page) and report.svg (area against throughput) beside the result of a search.
/// ConfigError if the directory has no result.
void write_report(const std::filesystem::path& run_directory);

}  // namespace tandem
