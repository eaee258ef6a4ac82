// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "search/stage_search.h"

namespace tandem {
namespace {

/// Every way to write `layers` as an ordered sum of `stages` positive parts within the capacities.
void all_divisions(std::int64_t layers, const std::vector<std::int64_t>& capacity, std::vector<std::int64_t>& partial,
                   const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  const std::size_t stage = partial.size();
  if (stage == capacity.size()) {
    if (layers == 0) visit(partial);
    return;
  }
  for (std::int64_t l = 1; l <= std::min(layers, capacity[stage]); ++l) {
    partial.push_back(l);
    all_divisions(layers - l, capacity, partial, visit);
    partial.pop_back();
  }
}

StageProblem random_problem(std::mt19937_64& random) {
  const auto whole = [&random](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto time = [&random](double most) { return Seconds(std::uniform_real_distribution<double>(0, most)(random)); };
  StageProblem problem;
  const std::int64_t stages = whole(1, 5);
  problem.schedule = whole(0, 1) == 0 ? PipelineSchedule::gpipe : PipelineSchedule::one_f_one_b;
  problem.layers = whole(stages, 12);
  problem.microbatches = whole(1, 12);
  problem.layer_forward = Seconds(1e-6) + time(2);
  problem.layer_backward = Seconds(1e-6) + time(4);
  problem.fixed.resize(static_cast<std::size_t>(stages));
  problem.fixed.front() = {time(2), time(2), {}, {}};
  problem.fixed.back().forward += time(6);
  problem.fixed.back().backward += time(6);
  const Seconds send = time(1);
  for (std::size_t s = 0; s < problem.fixed.size(); ++s) {
    if (s + 1 < problem.fixed.size()) problem.fixed[s].send_forward = send;
    if (s > 0) problem.fixed[s].send_backward = send;
  }
  for (std::int64_t s = 0; s < stages; ++s) problem.capacity.push_back(whole(0, 3) == 0 ? whole(1, 6) : 12);
  const Seconds per_layer = time(2);
  const Seconds embedding = time(3);
  problem.after = [=](std::int64_t stage, std::int64_t layers) {
    return static_cast<double>(layers) * per_layer + (stage == 0 ? embedding : Seconds(0));
  };
  return problem;
}

TEST(StageSearch, FindsWhatExhaustionFinds) {
  std::mt19937_64 random(7);
  int divided = 0;
  for (int i = 0; i < 400; ++i) {
    const StageProblem problem = random_problem(random);
    double least = std::numeric_limits<double>::infinity();
    std::vector<std::int64_t> partial;
    all_divisions(problem.layers, problem.capacity, partial, [&](const std::vector<std::int64_t>& division) {
      least = std::min(least, stage_time(problem, division).count());
    });
    const auto best = best_stages(problem, 1'000'000);
    if (!std::isfinite(least)) {
      EXPECT_FALSE(best.has_value());
      continue;
    }
    ASSERT_TRUE(best.has_value());
    ++divided;
    EXPECT_TRUE(best->proven);
    EXPECT_NEAR(best->time.count(), least, 1e-9 * least) << "case " << i;
    EXPECT_EQ(stage_time(problem, best->layers), best->time);
    EXPECT_EQ(std::accumulate(best->layers.begin(), best->layers.end(), std::int64_t{0}), problem.layers);
    EXPECT_LE(stage_bound(problem).count(), least * (1 + 1e-9)) << "case " << i;
  }
  EXPECT_GT(divided, 200);
}

TEST(StageSearch, SaysWhenItsNodesRanOut) {
  std::mt19937_64 random(7);
  int unproven = 0;
  for (int i = 0; i < 200; ++i) {
    const auto best = best_stages(random_problem(random), 1);
    if (best && !best->proven) ++unproven;
  }
  EXPECT_GT(unproven, 0);
}

TEST(StageSearch, EvenStagesWhereNothingDistinguishesThem) {
  StageProblem problem;
  problem.layers = 32;
  problem.microbatches = 64;
  problem.layer_forward = Seconds(1);
  problem.layer_backward = Seconds(2);
  problem.fixed.resize(8);
  problem.capacity.assign(8, 32);
  problem.after = [](std::int64_t, std::int64_t) { return Seconds(0); };
  const auto best = best_stages(problem, 10'000);
  ASSERT_TRUE(best.has_value());
  EXPECT_TRUE(best->proven);
  EXPECT_EQ(best->layers, std::vector<std::int64_t>(8, 4));
  EXPECT_DOUBLE_EQ(best->time.count(), (64 + 7) * 4 * 3.0);
}

}  // namespace
}  // namespace tandem
