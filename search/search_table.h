// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "search/architecture_search.h"

namespace tandem {

/// Writes search.h5: `/candidates`, one row per candidate (an architecture without a plan is one too), `/axes` with the
/// varied fields and `/names/*` with what the small codes mean.
void write_search_table(const std::filesystem::path& file, const SearchConfig& config,
                        const std::vector<DesignPoint>& designs, const SearchResult& result);

}  // namespace tandem
