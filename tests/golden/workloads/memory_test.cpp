// SPDX-License-Identifier: Apache-2.0
// Published activation memory and state sizes.
#include "workloads/memory.h"

#include <gtest/gtest.h>

#include "workloads/layer_shapes.h"

namespace tandem {
namespace {

/// 22B of Korthikanti et al. (arXiv 2205.05198), table 3: 64 heads, hidden 6144, 48 layers, sequence 2048.
TransformerModel model_22b() { return make_gpt("22B", 48, 6144, 64, 4 * 6144, 51200, 2048); }

Plan plan_22b(std::int64_t tp, bool sequence_parallel, Recompute recompute) {
  Plan plan;
  plan.tp = tp;
  plan.sequence_parallel = sequence_parallel;
  plan.global_batch = plan.microbatch = 4;
  plan.sequence = 2048;
  plan.recompute = recompute;
  return plan;
}

constexpr std::int64_t s = 2048, b = 4, h = 6144, a = 64;

TEST(LayerStash, KorthikantiEquation1) {
  EXPECT_EQ(layer_stash(model_22b(), plan_22b(1, false, Recompute::none)), Bytes(34 * s * b * h + 5 * a * s * s * b));
}

TEST(LayerStash, KorthikantiEquation2TensorParallel) {
  const std::int64_t t = 8;
  EXPECT_EQ(layer_stash(model_22b(), plan_22b(t, false, Recompute::none)),
            Bytes(10 * s * b * h + 24 * s * b * h / t + 5 * a * s * s * b / t));
}

TEST(LayerStash, KorthikantiEquation4SequenceParallel) {
  const std::int64_t t = 8;
  EXPECT_EQ(layer_stash(model_22b(), plan_22b(t, true, Recompute::none)),
            Bytes(34 * s * b * h / t + 5 * a * s * s * b / t));
}

TEST(LayerStash, KorthikantiSection5Recompute) {
  const std::int64_t t = 8;
  EXPECT_EQ(layer_stash(model_22b(), plan_22b(t, true, Recompute::selective)), Bytes(34 * s * b * h / t));
  EXPECT_EQ(layer_stash(model_22b(), plan_22b(1, false, Recompute::full)), Bytes(2 * s * b * h));
}

TEST(LayerStash, KorthikantiSection43Ends) {
  // Section 4.3, one stage: embedding dropout mask sbh; final norm and output layer 4sbh, fp32 logits 4sbv.
  const auto memory = memory_footprint(model_22b(), plan_22b(1, false, Recompute::none));
  const std::int64_t layers = 48 * (34 * s * b * h + 5 * a * s * s * b);
  EXPECT_EQ(memory.at(0).stash, Bytes(layers + s * b * h + 4 * s * b * h + 4 * s * b * 51200));
}

TEST(States, SixteenBytesAParameterOfZeroTable) {
  // Rajbhandari et al. (arXiv 1910.02054), section 3.1: 2 + 2 + 12 bytes a parameter; figure 1: 7.5 billion
  // parameters on 64 devices take 120 GB, and 31.4, 16.6, 1.9 GB with stages 1 to 3.
  TransformerModel model = make_gpt("7.5B", 36, 4096, 32, 4 * 4096, 51200, 1024);
  Plan plan;
  plan.dp = plan.global_batch = 64;
  plan.fp32_gradients = false;
  const auto states = [&](std::int64_t stage) {
    plan.zero_stage = stage;
    const MemoryFootprint one = memory_footprint(model, plan).at(0);
    return static_cast<double>((one.parameters + one.gradients + one.optimizer).value()) /
           static_cast<double>(device_parameters(model, plan, 0));
  };
  EXPECT_DOUBLE_EQ(states(0), 16);
  EXPECT_NEAR(states(1), 31.4 / 7.5, 0.01);
  EXPECT_NEAR(states(2), 16.6 / 7.5, 0.01);
  EXPECT_NEAR(states(3), 1.9 / 7.5, 0.01);
}

TEST(States, PublishedGpt3PerDeviceParameters) {
  // NEST (MLSys 2026), public graph of one GPT-3 layer at t = 4 and t = 8, parameters on one device, biases and norms
  // repeated as here.
  const TransformerModel model = make_gpt("GPT-3", 96, 12288, 96, 4 * 12288, 50257, 2048);
  Plan plan;
  plan.global_batch = 1;
  plan.tp = 4;
  EXPECT_EQ(block_share(model, plan).total(), 453'080'064);
  plan.tp = 8;
  EXPECT_EQ(block_share(model, plan).total(), 226'576'896);
}

}  // namespace
}  // namespace tandem
