// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "arch/support/error.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TransformerModel small_gpt(std::int64_t layers = 30) { return make_gpt("gpt", layers, 512, 8, 2048, 51200, 1024); }

Plan small_plan() {
  Plan plan;
  plan.global_batch = 32;
  return plan;
}

TEST(Plan, EvenStagesGiveTheRemainderToTheFirst) {
  EXPECT_THAT(even_stages(30, 4), ElementsAre(8, 8, 7, 7));
  EXPECT_THAT(even_stages(2, 3), ElementsAre(1, 1, 0));
}

TEST(Plan, NoLayerIsDroppedWhenStagesDoNotDivide) {
  Plan plan = small_plan();
  plan.pp = 4;
  EXPECT_THAT(problems(plan, small_gpt(), 4), IsEmpty());
  EXPECT_THAT(resolved(plan, small_gpt()).stage_layers, ElementsAre(8, 8, 7, 7));
  plan.stage_layers = {7, 7, 7, 7};
  EXPECT_THAT(problems(plan, small_gpt(), 4), ElementsAre(AllOf(HasSubstr("28 of the model's 30"),  //
                                                                HasSubstr("8, 8, 7, 7"))));
  plan.stage_layers = {3, 9, 9, 9};
  EXPECT_THAT(problems(plan, small_gpt(), 4), IsEmpty());
}

TEST(Plan, BatchThatDoesNotDivideIsRefusedWithTheNearest) {
  TransformerModel model = make_gpt("gpt", 40, 5120, 40, 11008, 50257, 4096);
  Plan plan = small_plan();
  plan.tp = plan.pp = 8;
  plan.dp = 23;
  EXPECT_THAT(problems(plan, model, 1472),
              ElementsAre(AllOf(HasSubstr("32 is not a multiple of 23"), HasSubstr("23 or 46"))));
}

TEST(Plan, RaggedMicrobatchIsRefused) {
  Plan plan = small_plan();
  plan.global_batch = 8;
  plan.pp = 3;
  plan.microbatch = 3;
  EXPECT_THAT(problems(plan, small_gpt(), 3), ElementsAre(AllOf(HasSubstr("8 is not a multiple of 3"),  //
                                                                HasSubstr("6 or 9"))));
}

TEST(Plan, AllProblemsAreListedAtOnce) {
  Plan plan = small_plan();
  plan.tp = 3;
  plan.cp = 3;
  plan.dp = 5;
  plan.ep = 2;
  plan.virtual_stages = 2;
  const auto found = problems(plan, small_gpt(), 64);
  EXPECT_THAT(found, testing::Contains(AllOf(HasSubstr("45 devices, but there are 64"), HasSubstr("63 or 72"))));
  EXPECT_THAT(found, testing::Contains(AllOf(HasSubstr("8 heads"), HasSubstr("tp 2 or 4"))));
  EXPECT_THAT(found, testing::Contains(HasSubstr("sequence 1024 does not divide into 6 chunks")));
  EXPECT_THAT(found, testing::Contains(HasSubstr("not a multiple of 5")));
  EXPECT_THAT(found, testing::Contains(HasSubstr("needs schedule interleaved")));
  EXPECT_THAT(found, testing::Contains(HasSubstr("ep 2 for a model without experts")));
}

TEST(Plan, KeyValueHeadsDivideOrRepeat) {
  const TransformerModel model = make_model("llama", "llama", {4, 768, 12, 4, 3072, 32000, 4096});
  Plan plan = small_plan();
  plan.tp = 12;  // each key-value head on three devices
  EXPECT_THAT(problems(plan, model, 12), IsEmpty());
  plan.tp = 6;
  EXPECT_THAT(problems(plan, model, 6), ElementsAre(HasSubstr("4 key-value heads")));
}

TEST(Plan, InterleavedNeedsMicrobatchesInMultiplesOfStages) {
  Plan plan = small_plan();
  plan.pp = 3;
  plan.schedule = PipelineSchedule::interleaved;
  plan.virtual_stages = 2;
  EXPECT_THAT(problems(plan, small_gpt(), 3), ElementsAre(HasSubstr("multiples of pp 3, not 32; 30 or 33")));
  plan.global_batch = 33;
  EXPECT_THAT(problems(plan, small_gpt(), 3), IsEmpty());
}

TEST(Plan, MoreStagesThanLayersAreRefused) {
  Plan plan = small_plan();
  plan.pp = 64;
  EXPECT_THAT(problems(plan, small_gpt(), 64), ElementsAre(HasSubstr("64 stages"))) << "no huge list of layers";
  plan.pp = 32;
  EXPECT_THAT(problems(plan, small_gpt(), 32), testing::Not(IsEmpty()));
}

TEST(Plan, NonsenseNumbersAreRefusedWithoutArithmeticErrors) {
  Plan plan;
  plan.tp = 0;
  plan.dp = -1;
  EXPECT_THAT(problems(plan, small_gpt(), 1), testing::SizeIs(3));  // global_batch is not given either
  plan = small_plan();
  plan.tp = plan.dp = plan.cp = std::int64_t{1} << 40;
  EXPECT_THAT(problems(plan, small_gpt(), 1), ElementsAre(HasSubstr("too large")));
}

TEST(Plan, CoordinatesAndDevicesAreInverse) {
  Plan plan;
  plan.tp = 2;
  plan.cp = 3;
  plan.dp = 4;
  plan.pp = 5;
  for (std::int64_t device = 0; device < plan.devices(); ++device) {
    EXPECT_EQ(device_at(plan, coordinates(plan, device)), device);
  }
  EXPECT_EQ(coordinates(plan, 1).tp, 1);
  EXPECT_EQ(coordinates(plan, 24).pp, 1);
}

TEST(Plan, GroupsOfAnAxisPartitionTheDevices) {
  Plan plan;
  plan.tp = 2;
  plan.cp = 3;
  plan.dp = 4;
  plan.ep = 2;
  plan.pp = 3;
  for (const auto& [axis, size] : {std::pair{Axis::tensor, 2},
                                   {Axis::context, 3},
                                   {Axis::expert, 2},
                                   {Axis::data, 12},
                                   {Axis::expert_data, 6},
                                   {Axis::pipeline, 3}}) {
    std::set<std::vector<std::int64_t>> groups;
    for (std::int64_t device = 0; device < plan.devices(); ++device) {
      const auto members = group(plan, axis, coordinates(plan, device));
      EXPECT_EQ(static_cast<int>(members.size()), size) << name_of(axis);
      EXPECT_THAT(members, testing::Contains(device));
      EXPECT_TRUE(std::is_sorted(members.begin(), members.end()));
      groups.insert(members);
    }
    EXPECT_EQ(static_cast<std::int64_t>(groups.size()), plan.devices() / size) << name_of(axis);
  }
  EXPECT_THAT(group(plan, Axis::embedding, coordinates(plan, 1)), ElementsAre(1, 49));
  EXPECT_THAT(group(plan, Axis::expert, {0, 0, 3, 0}), ElementsAre(12, 18));
}

class PlanFile : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() / (std::string("tandem_plan_") + info->name() + ".yaml");
    std::ofstream(path_) << text;
    return path_;
  }
  void TearDown() override { std::filesystem::remove(path_); }

 private:
  std::filesystem::path path_;
};

TEST_F(PlanFile, ResolvedTextReadsBackEqual) {
  Plan plan;
  plan.tp = 8;
  plan.pp = 4;
  plan.dp = 2;
  plan.sequence_parallel = true;
  plan.global_batch = 64;
  plan.microbatch = 2;
  plan.sequence = 2048;
  plan.stage_layers = {3, 4, 4, 3, 1, 2, 3, 4};
  plan.schedule = PipelineSchedule::interleaved;
  plan.virtual_stages = 2;
  plan.recompute = Recompute::selective;
  plan.optimizer = Optimizer::sgd;
  plan.zero_stage = 1;
  plan.dtype = DataType::fp16;
  plan.fp32_gradients = false;
  plan.attention = Attention::flash;
  plan.overlap_gradients = true;
  plan.blocking_sends = plan.scattered_sends = true;
  plan.fused_softmax = false;
  plan.fusion = Fusion::none;
  EXPECT_EQ(load_plan(write(to_yaml(plan))), plan);
}

TEST_F(PlanFile, EveryMistakeIsNamed) {
  const auto path = write("tp: 0\npp: many\nschedule: 1f1c\nrecompte: full\n");
  try {
    load_plan(path);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    const std::string what = error.what();
    EXPECT_THAT(what, HasSubstr(":1:"));
    EXPECT_THAT(what, HasSubstr("pp"));
    EXPECT_THAT(what, HasSubstr("1f1b"));
    EXPECT_THAT(what, HasSubstr("global_batch"));
    EXPECT_THAT(what, AllOf(HasSubstr("recompte"), HasSubstr("recompute")));
    EXPECT_EQ(error.diagnostics().size(), 5u) << what;
  }
}

TEST(Plan, SaysWhatHasNoEffect) {
  Plan plan = small_plan();
  EXPECT_THAT(remarks(plan, small_gpt()), IsEmpty());
  plan.sequence_parallel = true;
  plan.zero_stage = 1;
  plan.recompute = Recompute::selective;
  plan.attention = Attention::flash;
  EXPECT_THAT(remarks(plan, small_gpt()), ElementsAre(HasSubstr("sequence_parallel"), HasSubstr("selective"),  //
                                                      HasSubstr("zero_stage")));
  Plan padded = small_plan();
  padded.tp = 8;
  TransformerModel gpt = small_gpt();
  gpt.vocab = 50257;
  EXPECT_THAT(remarks(padded, gpt), ElementsAre(HasSubstr("50257 is padded to 51200")));
}

}  // namespace
}  // namespace tandem
