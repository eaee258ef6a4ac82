// SPDX-License-Identifier: Apache-2.0
#include "search/model_error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem {
namespace {

Throughput throughput(double tokens_per_second) {
  return {Picoseconds(static_cast<std::int64_t>(1e12 / tokens_per_second)), tokens_per_second, 0};
}

/// Candidates in the order of the ranking; a simulated throughput of 0 stands for none.
SearchResult result(const std::vector<std::pair<double, double>>& predicted_and_simulated) {
  SearchResult result;
  for (const auto& [predicted, simulated] : predicted_and_simulated) {
    Candidate candidate;
    candidate.predicted = throughput(predicted);
    if (simulated > 0) candidate.simulated = throughput(simulated);
    result.ranking.push_back(result.candidates.size());
    result.candidates.push_back(candidate);
  }
  return result;
}

TEST(KendallTau, CountsPairs) {
  EXPECT_DOUBLE_EQ(*kendall_tau(result({{4, 3}, {3, 2}, {2, 1}}).candidates), 1);
  EXPECT_DOUBLE_EQ(*kendall_tau(result({{4, 1}, {3, 2}, {2, 3}}).candidates), -1);
  EXPECT_NEAR(*kendall_tau(result({{4, 3}, {3, 1}, {2, 2}}).candidates), 1.0 / 3, 1e-15);
}

TEST(KendallTau, CorrectsForTies) {
  // Pairs: (1,2) tied in prediction, the other two agree: 2 / sqrt(2 * 3).
  EXPECT_NEAR(*kendall_tau(result({{3, 3}, {3, 2}, {2, 1}}).candidates), 2 / std::sqrt(6), 1e-15);
  EXPECT_FALSE(kendall_tau(result({{3, 1}, {3, 2}}).candidates).has_value());
  EXPECT_FALSE(kendall_tau(result({{3, 1}, {2, 0}}).candidates).has_value());
}

TEST(Margin, NoneIsLeft) {
  const Margin margin = margin_after(result({{4, 3}, {3, 2}}), 2);
  EXPECT_EQ(margin.reason, StopReason::all_simulated);
}

TEST(Margin, TheRestIsTooFarBehind) {
  // The model overestimates by at least a quarter: a candidate predicted at 3 reaches 2.4 at most, the best has 3.2.
  const Margin margin = margin_after(result({{4, 3.2}, {3.9, 2.9}, {3, 0}}), 2);
  EXPECT_EQ(margin.reason, StopReason::empirical_margin);
  EXPECT_NEAR(margin.largest_underestimate, 0.8, 1e-12);
  EXPECT_NEAR(margin.runner_up, 3 * 0.8 / 3.2, 1e-12);
}

TEST(Margin, TheRestCouldStillWin) {
  EXPECT_EQ(margin_after(result({{4, 3}, {3.9, 3.9}, {3.95, 0}}), 2).reason, StopReason::budget);
  EXPECT_EQ(margin_after(result({{4, 0}, {3, 0}}), 1).reason, StopReason::budget);
}

}  // namespace
}  // namespace tandem
