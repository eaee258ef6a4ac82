// SPDX-License-Identifier: Apache-2.0
#include "search/plan_space.h"

#include <gtest/gtest.h>

#include <set>

#include "search/plan_json.h"

namespace tandem {
namespace {

TransformerModel model() { return make_gpt("gpt", 8, 64, 4, 256, 1000, 128); }

PlanSpace space() {
  PlanSpace space;
  space.devices = 8;
  space.global_batch = 16;
  space.sequence = 128;
  return space;
}

TEST(PlanSpace, DegreesFillTheDevicesAndDivideTheBatch) {
  const auto plans = enumerate_plans(space(), model());
  std::set<std::string> seen;
  for (const Plan& plan : plans) {
    EXPECT_EQ(plan.tp * plan.pp * plan.dp, 8);
    EXPECT_EQ(16 % (plan.dp * plan.microbatch), 0);
    EXPECT_LE(plan.pp, 8);
    EXPECT_FALSE(plan.tp == 1 && plan.sequence_parallel);
    seen.insert(plan_json(plan).dump());
  }
  EXPECT_EQ(seen.size(), plans.size());
}

TEST(PlanSpace, EveryCombinationIsThere) {
  // tp x pp x dp over 8 devices: 10 triples; microbatches: the divisors of 16 / dp (5, 4, 3, 2 for dp 1, 2, 4, 8);
  // three recomputes; two sequence parallels where tp > 1.
  std::int64_t expected = 0;
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    for (const std::int64_t pp : {1, 2, 4, 8}) {
      if (8 % (tp * pp) != 0) continue;
      const std::int64_t dp = 8 / (tp * pp);
      const std::int64_t microbatches = dp == 1 ? 5 : dp == 2 ? 4 : dp == 4 ? 3 : 2;
      expected += microbatches * 3 * (tp > 1 ? 2 : 1);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(enumerate_plans(space(), model()).size()), expected);
}

TEST(PlanSpace, ListsRestrict) {
  PlanSpace narrow = space();
  narrow.tp = {2, 3, 2};
  narrow.dp = {2};
  narrow.microbatch = {1};
  narrow.recompute = {Recompute::none};
  narrow.sequence_parallel = {true};
  const auto plans = enumerate_plans(narrow, model());
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].pp, 2);
  EXPECT_TRUE(plans[0].sequence_parallel);
}

TEST(PlanSpace, InterleavingNeedsWholeRoundsAndEnoughLayers) {
  PlanSpace interleaved = space();
  interleaved.schedule = {PipelineSchedule::interleaved};
  interleaved.virtual_stages = {2, 4};
  for (const Plan& plan : enumerate_plans(interleaved, model())) {
    if (plan.pp == 1) {
      EXPECT_EQ(plan.schedule, PipelineSchedule::one_f_one_b);
      continue;
    }
    EXPECT_EQ(plan.microbatches() % plan.pp, 0);
    EXPECT_LE(plan.pp * plan.virtual_stages, 8);
  }
}

TEST(PlanJson, ReadsBackWhatItWrote) {
  PlanSpace all = space();
  all.schedule = {PipelineSchedule::gpipe, PipelineSchedule::interleaved};
  all.attention = {Attention::unfused, Attention::flash};
  all.zero_stage = {0, 2};
  all.overlap_gradients = {false, true};
  for (Plan plan : enumerate_plans(all, model())) {
    plan.stage_layers = {3, 5};
    EXPECT_EQ(plan_from_json(plan_json(plan)), plan);
  }
}

}  // namespace
}  // namespace tandem
