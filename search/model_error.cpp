// SPDX-License-Identifier: Apache-2.0
#include "search/model_error.h"

#include <algorithm>
#include <cmath>

namespace tandem {

Margin margin_after(const SearchResult& result, std::size_t next) {
  Margin margin;
  double best = 0;
  for (const Candidate& candidate : result.candidates) {
    if (!candidate.simulated) continue;
    best = std::max(best, candidate.simulated->tokens_per_second);
    margin.largest_underestimate = std::max(
        margin.largest_underestimate, candidate.simulated->tokens_per_second / candidate.predicted->tokens_per_second);
  }
  if (next >= result.ranking.size()) {
    margin.reason = StopReason::all_simulated;
    return margin;
  }
  margin.reason = StopReason::budget;
  if (best == 0) return margin;
  const Candidate& runner_up = result.candidates[result.ranking[next]];
  margin.runner_up = runner_up.predicted->tokens_per_second * margin.largest_underestimate / best;
  if (margin.runner_up < 1) margin.reason = StopReason::empirical_margin;
  return margin;
}

std::optional<double> kendall_tau(std::span<const Candidate> candidates) {
  double agreement = 0, differ_in_predicted = 0, differ_in_simulated = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].simulated) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (!candidates[j].simulated) continue;
      const auto predicted = candidates[i].predicted->time <=> candidates[j].predicted->time;
      const auto simulated = candidates[i].simulated->time <=> candidates[j].simulated->time;
      if (predicted != 0) ++differ_in_predicted;
      if (simulated != 0) ++differ_in_simulated;
      if (predicted == 0 || simulated == 0) continue;
      agreement += predicted == simulated ? 1 : -1;
    }
  }
  if (differ_in_predicted == 0 || differ_in_simulated == 0) return std::nullopt;
  return agreement / std::sqrt(differ_in_predicted * differ_in_simulated);
}

}  // namespace tandem
