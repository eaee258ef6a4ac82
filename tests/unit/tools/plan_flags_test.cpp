// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/support/error.h"
#include "tools/scenario.h"

namespace tandem {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

const std::int64_t kDevices = 64;

TransformerModel model() { return make_gpt("m", 30, 1024, 16, 4096, 50304, 2048); }

ResolvedPlan resolve(const std::vector<std::string>& words, const Plan* base = nullptr) {
  return resolve_plan(Arguments(words, {plan_flags(), machine_flags()}, 0), base, model(), kDevices);
}

std::string complaint(const std::vector<std::string>& words) {
  try {
    (void)resolve(words);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(PlanFlags, AWholePlanFromFlags) {
  const ResolvedPlan resolved = resolve({"--tp", "4", "--pp", "4", "--mbs", "2", "--gbs", "64", "--recompute", "full"});
  EXPECT_EQ(resolved.plan.tp, 4);
  EXPECT_EQ(resolved.plan.dp, 4);  // 64 / (4 x 4)
  EXPECT_EQ(resolved.plan.sequence, 2048);
  EXPECT_EQ(resolved.plan.recompute, Recompute::full);
  EXPECT_THAT(resolved.plan.stage_layers, ElementsAre(8, 8, 7, 7));  // 30 layers over 4 stages lose none
  EXPECT_THAT(resolved.notes, Contains(HasSubstr("dp 4")));
  EXPECT_THAT(resolved.notes, Contains(HasSubstr("--sequence is not given: 2048")));
}

TEST(PlanFlags, MegatronNamesMeanTheSame) {
  const Plan ours = resolve({"--tp", "2", "--pp", "2", "--mbs", "1", "--gbs", "32", "--sequence", "1024"}).plan;
  const Plan theirs = resolve({"--tensor-model-parallel-size", "2", "--pipeline-model-parallel-size", "2",
                               "--micro-batch-size", "1", "--global-batch-size", "32", "--seq-length", "1024"})
                          .plan;
  EXPECT_EQ(ours, theirs);
}

TEST(PlanFlags, VirtualStagesByLayersOrNumber) {
  const Plan by_number = resolve({"--pp", "5", "--dp", "1", "--vpp", "3", "--gbs", "10"}).plan;
  EXPECT_EQ(by_number.schedule, PipelineSchedule::interleaved);
  EXPECT_EQ(by_number.stage_layers.size(), 15U);
  EXPECT_EQ(resolve({"--pp", "5", "--dp", "1", "--num-layers-per-virtual-pipeline-stage", "2", "--gbs", "10"}).plan,
            by_number);
  EXPECT_THAT(complaint({"--pp", "4", "--num-layers-per-virtual-pipeline-stage", "4", "--gbs", "8"}), HasSubstr("30"));
}

TEST(PlanFlags, FlagsReplaceTheFileAndSaySo) {
  Plan base = resolve({"--tp", "8", "--pp", "1", "--gbs", "64", "--sequence", "512"}).plan;
  const ResolvedPlan resolved = resolve({"--tp", "4"}, &base);
  EXPECT_EQ(resolved.plan.tp, 4);
  EXPECT_EQ(resolved.plan.dp, 16);  // follows from tp
  EXPECT_EQ(resolved.plan.sequence, 512);
  EXPECT_THAT(resolved.notes, Contains(HasSubstr("--tp: 4 replaces 8")));
  EXPECT_EQ(resolve({"--dp", "2"}, &base).plan.dp, 2);
  EXPECT_EQ(resolve({}, &base).plan, base);
}

TEST(PlanFlags, ImpossibleOnesNameTheNumbers) {
  EXPECT_THAT(complaint({"--tp", "24", "--gbs", "64"}), AllOf(HasSubstr("64"), HasSubstr("72")));
  EXPECT_THAT(complaint({"--tp", "2"}), HasSubstr("--gbs"));
  EXPECT_THAT(complaint({"--pp", "64", "--gbs", "64"}), HasSubstr("30"));
  EXPECT_THAT(complaint({"--recompute", "ful", "--gbs", "64"}), AllOf(HasSubstr("ful"), HasSubstr("full")));
  EXPECT_THAT(complaint({"--zero", "4", "--gbs", "64"}), HasSubstr("ZeRO"));
  EXPECT_THAT(complaint({"--stage-layers", "8,,2", "--gbs", "64"}), HasSubstr("--stage-layers"));
}

TEST(PlanFlags, StagesCanBeUneven) {
  EXPECT_THAT(resolve({"--pp", "2", "--stage-layers", "13,17", "--gbs", "64"}).plan.stage_layers, ElementsAre(13, 17));
}

}  // namespace
}  // namespace tandem
