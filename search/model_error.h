// SPDX-License-Identifier: Apache-2.0
// How far prediction and simulation of the same candidates lie apart, and what that says about the rest.
#pragma once

#include <optional>
#include <span>

#include "search/architecture_search.h"

namespace tandem {

/// Where the search stands when all before position `next` of the ranking were tried.
Margin margin_after(const SearchResult& result, std::size_t next);

/// Rank correlation of predicted and simulated times over the simulated candidates; nothing below two, or if all are
/// equal in one of the two. Source: Kendall, "The treatment of ties in ranking problems", Biometrika 33(3), 1945
/// (tau-b).
std::optional<double> kendall_tau(std::span<const Candidate> candidates);

}  // namespace tandem
