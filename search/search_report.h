// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "search/architecture_search.h"

namespace tandem {

/// Text of result.json: the answer, what it is compared with, what was tried and why the rest was left out.
std::string result_json(const SearchConfig& config, const std::vector<DesignPoint>& designs, const SearchResult& result,
                        const std::string& config_hash, const std::string& simulator);

/// Why nothing fits: how many candidates failed for which reason, and the nearest miss.
std::string infeasible_text(const SearchResult& result);

}  // namespace tandem
