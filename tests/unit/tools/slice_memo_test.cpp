// SPDX-License-Identifier: Apache-2.0
#include "sim/slice_memo.h"

#include <gtest/gtest.h>

#include "arch/config.h"
#include "search/mapper.h"
#include "sim/simulate.h"

namespace tandem {
namespace {

class SliceMemos : public testing::Test {
 protected:
  SliceMemos() : cluster_(load_cluster(find_config("cluster", "dgx-a100")).resized(8)) {}

  [[nodiscard]] Program program(std::int64_t pp, std::int64_t global_batch) const {
    Plan plan;
    plan.tp = 2;
    plan.pp = pp;
    plan.dp = 4 / pp;
    plan.global_batch = global_batch;
    plan.sequence = 128;
    plan.stage_layers = even_stages(4, pp);
    Program result = build_program(make_gpt("small", 4, 256, 8, 1024, 1024, 128), plan);
    map_program(cluster_.chip, result);
    return result;
  }

  Cluster cluster_;
};

TEST_F(SliceMemos, AnswersAreTheSameToThePicosecond) {
  SliceMemo memo;
  SimulationOptions options;
  options.memo = &memo;
  for (const std::int64_t pp : {1, 2, 1}) {
    const Program work = program(pp, 16);
    const Answer shared = simulate(cluster_, work, options);
    const Answer alone = simulate(cluster_, work);
    EXPECT_EQ(shared.iteration.time, alone.iteration.time);
    EXPECT_EQ(shared.iteration.by_cause.part, alone.iteration.by_cause.part);
    ASSERT_EQ(shared.operators.size(), alone.operators.size());
    for (std::size_t i = 0; i < alone.operators.size(); ++i) {
      EXPECT_EQ(shared.operators[i].time, alone.operators[i].time);
      EXPECT_EQ(shared.operators[i].slice, alone.operators[i].slice);
    }
  }
}

TEST_F(SliceMemos, OnlyNewWorkIsRun) {
  SliceMemo memo;
  SimulationOptions options;
  options.memo = &memo;
  (void)simulate(cluster_, program(1, 16), options);
  const std::size_t slices = memo.size();
  EXPECT_GT(slices, 0U);
  (void)simulate(cluster_, program(1, 32), options);  // more microbatches of the same
  EXPECT_EQ(memo.size(), slices);
  options.ideal.hbm = true;
  (void)simulate(cluster_, program(1, 16), options);  // another memory
  EXPECT_EQ(memo.size(), 2 * slices);
}

}  // namespace
}  // namespace tandem
