// SPDX-License-Identifier: Apache-2.0
#include "workloads/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "arch/support/error.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Four layers of 512, sequences of 128.
TransformerModel small_gpt() { return make_gpt("gpt", 4, 512, 8, 2048, 8192, 128); }
TransformerModel small_llama() { return make_model("llama", "llama", {4, 512, 8, 4, 1024, 8192, 128}); }

Plan plan_of(std::int64_t tp, std::int64_t dp = 1, std::int64_t pp = 1) {
  Plan plan;
  plan.tp = tp;
  plan.dp = dp;
  plan.pp = pp;
  plan.global_batch = 8 * dp;
  plan.microbatch = 2;
  return plan;
}

/// Names of collectives; computing is left out.
std::vector<std::string> exchanges(const std::vector<Step>& steps) {
  std::vector<std::string> names;
  for (const Step& step : steps) {
    if (const auto* one = std::get_if<CollectiveStep>(&step)) names.push_back(one->name);
  }
  return names;
}

Bytes bytes_of(const std::vector<Step>& steps, const std::string& name) {
  for (const Step& step : steps) {
    const auto* one = std::get_if<CollectiveStep>(&step);
    if (one != nullptr && one->name == name) return one->collective.bytes;
  }
  return Bytes(-1);
}

std::vector<const Operator*> operators(const Program& program, const std::vector<Step>& steps) {
  std::vector<const Operator*> all;
  for (const Step& step : steps) {
    if (const auto* compute = std::get_if<ComputeStep>(&step)) {
      for (const Operator& op : program.slices[static_cast<std::size_t>(compute->slice)].graph.operators) {
        all.push_back(&op);
      }
    }
  }
  return all;
}

const Operator* find(const Program& program, const std::vector<Step>& steps, const std::string& name,
                     Pass pass = Pass::forward) {
  for (const Operator* op : operators(program, steps)) {
    if (op->name == name && op->pass == pass) return op;
  }
  return nullptr;
}

TEST(Program, OneDeviceHasOneSlicePerPassAndNoCommunication) {
  const Program program = build_program(small_gpt(), plan_of(1));
  ASSERT_EQ(program.layers.size(), 3u);
  for (const LayerProgram& layer : program.layers) {
    EXPECT_EQ(layer.forward.size(), 1u) << layer.name;
    EXPECT_EQ(layer.backward.size(), 1u) << layer.name;
    EXPECT_THAT(exchanges(layer.forward), IsEmpty());
  }
  EXPECT_THAT(exchanges(program.stages[0].after), IsEmpty());
  EXPECT_EQ(program.slices[static_cast<std::size_t>(std::get<ComputeStep>(program.layers[1].forward[0]).slice)].name,
            "block.forward");
}

TEST(Program, TensorParallelReducesTwiceForwardAndTwiceBackward) {
  const Program program = build_program(small_gpt(), plan_of(4));
  EXPECT_THAT(exchanges(program.layers[1].forward), ElementsAre("tp.all_reduce", "tp.all_reduce"));
  EXPECT_THAT(exchanges(program.layers[1].backward), ElementsAre("tp.all_reduce", "tp.all_reduce"));
  EXPECT_EQ(bytes_of(program.layers[1].forward, "tp.all_reduce"), Bytes(2 * 128 * 512 * 2));
  EXPECT_THAT(exchanges(program.layers[0].forward), ElementsAre("tp.all_reduce"));
  EXPECT_THAT(exchanges(program.layers[0].backward), IsEmpty());
  EXPECT_THAT(exchanges(program.layers[2].forward),
              ElementsAre("tp.all_reduce.largest_logit", "tp.all_reduce.label_logit", "tp.all_reduce.exponentials"));
  EXPECT_THAT(exchanges(program.layers[2].backward), ElementsAre("tp.all_reduce"));
}

TEST(Program, ScatteredSendsAreGatheredAtTheirEnds) {
  Plan plan = plan_of(4);
  plan.pp = 2;
  plan.dp = 1;
  plan.stage_layers.clear();
  const Program whole = build_program(small_gpt(), plan);
  plan.scattered_sends = true;
  const Program scattered = build_program(small_gpt(), plan);
  EXPECT_EQ(whole.layers.size(), 3u);
  ASSERT_EQ(scattered.layers.size(), 5u);
  EXPECT_EQ(scattered.stages[0].send_forward * 4, whole.stages[0].send_forward);
  EXPECT_THAT(exchanges(scattered.layers[3].forward), ElementsAre("tp.all_gather.activations"));
  EXPECT_THAT(exchanges(scattered.layers[4].backward), ElementsAre("tp.all_gather.activations"));
  EXPECT_EQ(bytes_of(scattered.layers[3].forward, "tp.all_gather.activations"), whole.stages[0].send_forward);
  EXPECT_EQ(scattered.stages[0].layers.back().layer, 4);
  EXPECT_EQ(scattered.stages[1].layers.front().layer, 3);
}

TEST(Program, ZeroBubbleTakesTheGradientsOfWeightsApart) {
  Plan plan = plan_of(1);
  const Program together = build_program(small_gpt(), plan);
  plan.schedule = PipelineSchedule::zb_h1;
  const Program apart = build_program(small_gpt(), plan);
  for (std::size_t i = 0; i < 3; ++i) {
    std::size_t data = 0, weights = 0;
    for (const Operator* op : operators(apart, apart.layers[i].backward)) {
      EXPECT_NE(op->pass, Pass::backward_weight) << op->name;
      ++data;
    }
    for (const Operator* op : operators(apart, apart.layers[i].weight)) {
      EXPECT_EQ(op->pass, Pass::backward_weight) << op->name;
      ++weights;
    }
    EXPECT_EQ(data + weights, operators(together, together.layers[i].backward).size()) << apart.layers[i].name;
    EXPECT_THAT(together.layers[i].weight, IsEmpty());
  }
}

TEST(Program, SequenceParallelGathersAndScattersInstead) {
  Plan plan = plan_of(4);
  plan.sequence_parallel = true;
  const Program program = build_program(small_gpt(), plan);
  EXPECT_THAT(exchanges(program.layers[1].forward),
              ElementsAre("tp.all_gather", "tp.reduce_scatter", "tp.all_gather", "tp.reduce_scatter"));
  EXPECT_THAT(exchanges(program.layers[1].backward),
              ElementsAre("tp.all_gather", "tp.all_gather.regather", "tp.reduce_scatter",  //
                          "tp.all_gather", "tp.all_gather.regather", "tp.reduce_scatter"));
  EXPECT_EQ(find(program, program.layers[1].forward, "attention.norm")->vector.rows, 2 * 128 / 4);
  EXPECT_EQ(find(program, program.layers[1].forward, "attention.qkv")->matmul.m, 2 * 128);
  EXPECT_THAT(exchanges(program.stages[0].after), ElementsAre("tp.all_reduce.norm_gradients"));
}

TEST(Program, ContextParallelGathersKeysAndValues) {
  Plan plan = plan_of(1);
  plan.cp = 2;
  plan.attention = Attention::flash;
  const Program program = build_program(small_llama(), plan);
  EXPECT_THAT(exchanges(program.layers[1].forward), ElementsAre("cp.all_gather"));
  EXPECT_THAT(exchanges(program.layers[1].backward), ElementsAre("cp.all_gather.regather", "cp.reduce_scatter"));
  // Keys and values of four heads of 64, whole sequences, two bytes.
  EXPECT_EQ(bytes_of(program.layers[1].forward, "cp.all_gather"), Bytes(2 * 2 * 128 * 4 * 64 * 2));
  const Operator* scores = find(program, program.layers[1].forward, "attention.scores");
  EXPECT_EQ(scores->matmul, (MatmulShape{2 * 8, 64, 128, 64}));
  EXPECT_EQ(scores->causal_keys, 128);
}

TEST(Program, KeysOfAGroupCountOnce) {
  const Program program = build_program(small_llama(), plan_of(1));
  const Operator* scores = find(program, program.layers[1].forward, "attention.scores");
  EXPECT_EQ(scores->matmul.batch, 2 * 8);
  EXPECT_EQ(scores->inputs[1].bytes, Bytes(2 * 4 * 128 * 64 * 2));
}

TEST(Program, FlashAttentionKeepsScoresInTheCores) {
  Plan plan = plan_of(1);
  plan.attention = Attention::flash;
  const Program program = build_program(small_gpt(), plan);
  const auto& forward = program.layers[1].forward;
  EXPECT_EQ(find(program, forward, "attention.scores")->outputs[0].where, Residency::core);
  EXPECT_TRUE(find(program, forward, "attention.scores")->causal);
  // One fp32 a row is all that the softmax writes.
  EXPECT_EQ(find(program, forward, "attention.softmax")->hbm_bytes(), Bytes(4 * 2 * 8 * 128));
  EXPECT_NE(find(program, program.layers[1].backward, "attention.scores", Pass::recompute), nullptr);
  EXPECT_EQ(find(program, program.layers[1].backward, "attention.context", Pass::recompute), nullptr);
}

TEST(Program, UnfusedAttentionComputesTheWholeSquare) {
  const Program program = build_program(small_gpt(), plan_of(1));
  const Operator* scores = find(program, program.layers[1].forward, "attention.scores");
  EXPECT_FALSE(scores->causal);
  ASSERT_EQ(scores->epilogue.size(), 1u);
  EXPECT_EQ(scores->epilogue[0].kind, OperatorKind::scale_mask);
}

TEST(Program, Fp8IsForTheInputsOfLinearLayers) {
  Plan plan = plan_of(2);
  const Program bf16 = build_program(small_gpt(), plan);
  plan.dtype = DataType::fp8;
  const Program fp8 = build_program(small_gpt(), plan);
  const Operator* linear = find(fp8, fp8.layers[1].forward, "attention.qkv");
  EXPECT_EQ(linear->dtype, DataType::fp8);
  EXPECT_EQ(linear->inputs[1].bytes, Bytes(512 * 3 * 256));
  EXPECT_EQ(linear->outputs[0].bytes, Bytes(2 * 128 * 3 * 256 * 2));
  EXPECT_EQ(find(fp8, fp8.layers[1].forward, "attention.scores")->dtype, DataType::bf16);
  EXPECT_EQ(bytes_of(fp8.layers[1].forward, "tp.all_reduce"), bytes_of(bf16.layers[1].forward, "tp.all_reduce"));
  EXPECT_EQ(find(fp8, fp8.layers[1].backward, "mlp.down.wgrad", Pass::backward_weight)->outputs[0].bytes,
            Bytes(4 * 1024 * 512));
  EXPECT_EQ(fp8.memory[0].total(), bf16.memory[0].total());
}

TEST(Program, FullRecomputeRepeatsTheForwardAheadOfTheBackward) {
  Plan plan = plan_of(4);
  plan.recompute = Recompute::full;
  const Program program = build_program(small_gpt(), plan);
  EXPECT_THAT(exchanges(program.layers[1].backward),
              ElementsAre("tp.all_reduce", "tp.all_reduce", "tp.all_reduce", "tp.all_reduce"));
  EXPECT_EQ(operators(program, program.layers[1].backward).front()->pass, Pass::recompute);
  EXPECT_EQ(operators(program, program.layers[1].backward).front()->name, "attention.norm");
}

TEST(Program, ForwardUnderFullRecomputeWritesNoStash) {
  Plan plan = plan_of(1);
  const Program keeping = build_program(small_gpt(), plan);
  plan.recompute = Recompute::full;
  const Program forgetting = build_program(small_gpt(), plan);
  const auto written = [](const Program& program) {
    return find(program, program.layers[1].forward, "mlp.up")->hbm_bytes();
  };
  EXPECT_EQ(written(keeping) - written(forgetting), Bytes(2 * 128 * 2048 * 2)) << "the pre-activation";
}

TEST(Program, SelectiveRecomputeRepeatsTheAttentionCoreAlone) {
  Plan plan = plan_of(1);
  plan.recompute = Recompute::selective;
  const Program program = build_program(small_gpt(), plan);
  std::vector<std::string> again;
  for (const Operator* op : operators(program, program.layers[1].backward)) {
    if (op->pass == Pass::recompute) again.push_back(op->name);
  }
  EXPECT_THAT(again, ElementsAre("attention.scores", "attention.softmax", "attention.dropout", "attention.context"));
}

TEST(Program, SelectiveRecomputeChangesNothingWithFlashAttention) {
  Plan plan = plan_of(1);
  plan.attention = Attention::flash;
  const Program none = build_program(small_gpt(), plan);
  plan.recompute = Recompute::selective;
  const Program selective = build_program(small_gpt(), plan);
  ASSERT_EQ(none.slices.size(), selective.slices.size());
  for (std::size_t i = 0; i < none.slices.size(); ++i) EXPECT_EQ(none.slices[i].graph, selective.slices[i].graph);
  EXPECT_EQ(none.memory[0].total(), selective.memory[0].total());
}

TEST(Program, ExpertsExchangeTokensThereAndBack) {
  TransformerModel model = small_llama();
  model.family = "mixtral";
  model.experts = 8;
  model.experts_per_token = 2;
  Plan plan = plan_of(1, 4);
  plan.ep = 4;
  const Program program = build_program(model, plan);
  EXPECT_THAT(exchanges(program.layers[1].forward), ElementsAre("ep.all_to_all", "ep.all_to_all"));
  EXPECT_THAT(exchanges(program.layers[1].backward), ElementsAre("ep.all_to_all", "ep.all_to_all"));
  EXPECT_EQ(bytes_of(program.layers[1].forward, "ep.all_to_all"), Bytes(2 * 128 * 2 * 512 * 2));
  // Two experts here; each gets 4 devices x 256 tokens x 2 of 8.
  EXPECT_EQ(find(program, program.layers[1].forward, "moe.up")->matmul, (MatmulShape{2, 256, 2048, 512}));
  EXPECT_THAT(exchanges(program.stages[0].after), ElementsAre("dp.all_reduce.gradients")) << "experts have no replica";
  plan.dp = 8;
  plan.global_batch = 64;
  EXPECT_THAT(exchanges(build_program(model, plan).stages[0].after),
              ElementsAre("dp.all_reduce.gradients", "edp.all_reduce.gradients"));
}

TEST(Program, GradientExchangeByZeroStage) {
  Plan plan = plan_of(1, 4);
  const TransformerModel model = small_gpt();
  const std::int64_t parameters = count_parameters(model).total;
  EXPECT_EQ(bytes_of(build_program(model, plan).stages[0].after, "dp.all_reduce.gradients"), Bytes(4 * parameters));
  plan.zero_stage = 1;
  const Program sharded = build_program(model, plan);
  EXPECT_THAT(exchanges(sharded.stages[0].after),
              ElementsAre("dp.reduce_scatter.gradients", "dp.all_gather.parameters"));
  EXPECT_EQ(bytes_of(sharded.stages[0].after, "dp.all_gather.parameters"), Bytes(2 * parameters));
  plan.zero_stage = 2;
  const Program scattered = build_program(model, plan);
  EXPECT_THAT(exchanges(scattered.layers[1].backward), ElementsAre("dp.reduce_scatter.gradients"));
  EXPECT_THAT(exchanges(scattered.stages[0].after), ElementsAre("dp.all_gather.parameters"));
  plan.zero_stage = 3;
  const Program all = build_program(model, plan);
  EXPECT_THAT(exchanges(all.layers[1].forward), ElementsAre("dp.all_gather.parameters"));
  EXPECT_THAT(exchanges(all.layers[1].backward),
              ElementsAre("dp.all_gather.parameters", "dp.reduce_scatter.gradients"));
  EXPECT_THAT(exchanges(all.stages[0].after), IsEmpty());
}

TEST(Program, OverlappedGradientsGoInBucketsByLayer) {
  Plan plan = plan_of(1, 4);
  plan.overlap_gradients = true;
  const Program program = build_program(small_gpt(), plan);
  const auto& buckets = program.stages[0].gradient_buckets;
  ASSERT_EQ(buckets.size(), 6u);
  Bytes sum{};
  for (const Bytes bucket : buckets) sum += bucket;
  EXPECT_EQ(sum, Bytes(4 * count_parameters(small_gpt()).total));
  EXPECT_GT(buckets.back(), buckets[1]) << "the embedding comes last";
  EXPECT_THAT(exchanges(program.stages[0].after), IsEmpty());
}

TEST(Program, OptimizerUpdatesThisReplicasPart) {
  Plan plan = plan_of(1, 4);
  const std::int64_t parameters = count_parameters(small_gpt()).total;
  const auto update = [](const Program& program) { return operators(program, program.stages[0].after).front(); };
  const Program whole = build_program(small_gpt(), plan);
  EXPECT_EQ(update(whole)->kind, OperatorKind::optimizer);
  EXPECT_EQ(update(whole)->pass, Pass::update);
  EXPECT_EQ(update(whole)->vector.rows * update(whole)->vector.cols, parameters);
  // fp32 gradient, master weight and two moments in; the latter three and the 16-bit weight out.
  EXPECT_EQ(update(whole)->hbm_bytes(), Bytes((16 + 14) * parameters));
  plan.zero_stage = 1;
  const Program sharded = build_program(small_gpt(), plan);
  EXPECT_EQ(update(sharded)->vector.rows * update(sharded)->vector.cols, (parameters + 3) / 4);
  plan.zero_stage = 0;
  plan.optimizer = Optimizer::sgd;
  const Program sgd = build_program(small_gpt(), plan);
  EXPECT_EQ(update(sgd)->hbm_bytes(), Bytes((8 + 6) * parameters));
}

TEST(Program, PipelineStagesSendAndShareTheTiedTable) {
  Plan plan = plan_of(2, 1, 4);
  const Program program = build_program(small_gpt(), plan);
  ASSERT_EQ(program.stages.size(), 4u);
  const Bytes boundary(2 * 128 * 512 * 2);
  EXPECT_EQ(program.stages[0].send_forward, boundary);
  EXPECT_EQ(program.stages[3].send_forward, Bytes(0));
  EXPECT_EQ(program.stages[3].send_backward, boundary);
  EXPECT_THAT(exchanges(program.stages[0].after), ElementsAre("embedding.all_reduce.tied_gradients"));
  EXPECT_THAT(exchanges(program.stages[1].after), IsEmpty());
  EXPECT_THAT(exchanges(program.stages[3].after), ElementsAre("embedding.all_reduce.tied_gradients"));
  plan.sequence_parallel = true;
  EXPECT_EQ(build_program(small_gpt(), plan).stages[0].send_forward, boundary / 2);
}

TEST(Program, UnevenStagesRunWhatTheyAreTold) {
  Plan plan = plan_of(1, 1, 2);
  plan.stage_layers = {1, 3};
  const Program program = build_program(small_gpt(), plan);
  EXPECT_EQ(program.stages[0].layers[1].count, 1);
  EXPECT_EQ(program.stages[1].layers[0].count, 3);
  EXPECT_LT(program.memory[0].parameters, program.memory[1].parameters);
}

TEST(Program, EqualSlicesAreKeptOnce) {
  const Program program = build_program(small_gpt(), plan_of(1, 1, 4));
  std::size_t updates = 0;
  for (const Slice& slice : program.slices) updates += slice.name == "optimizer" ? 1 : 0;
  EXPECT_EQ(updates, 3u) << "first, middle and last stage";
}

TEST(Program, WeightGradientsAddUpOverMicrobatches) {
  Plan plan = plan_of(1);
  const Program many = build_program(small_gpt(), plan);
  const Operator* wgrad = find(many, many.layers[1].backward, "mlp.down.wgrad", Pass::backward_weight);
  EXPECT_EQ(wgrad->outputs[0].bytes, Bytes(4 * 2048 * 512));
  ASSERT_EQ(wgrad->epilogue.size(), 1u);
  EXPECT_EQ(wgrad->epilogue[0].extra_read, Bytes(4 * 2048 * 512));
  plan.microbatch = plan.global_batch;
  const Program one = build_program(small_gpt(), plan);
  EXPECT_TRUE(find(one, one.layers[1].backward, "mlp.down.wgrad", Pass::backward_weight)->epilogue.empty());
}

TEST(Program, ImpossiblePlansListAllProblems) {
  Plan plan = plan_of(3, 5);
  plan.global_batch = 7;
  try {
    build_program(small_gpt(), plan);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("8 heads"), HasSubstr("2048"), HasSubstr("not a multiple of 10")));
  }
}

TEST(Program, DegreesBeyondAnyMachineAreRefused) {
  Plan plan = plan_of(1);
  plan.tp = plan.dp = plan.cp = plan.pp = std::int64_t{1} << 40;
  EXPECT_THROW(build_program(small_gpt(), plan), ConfigError);
}

TEST(Program, MemoryThatDoesNotFitNamesStageAndShortfall) {
  const Program program = build_program(small_gpt(), plan_of(1, 1, 2));
  EXPECT_NO_THROW(check_memory(program, Bytes(std::int64_t{1} << 40)));
  try {
    check_memory(program, Bytes(1 << 20));
    FAIL() << "fits";
  } catch (const InfeasibleError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("stage "), HasSubstr("1 MiB"), HasSubstr("too much"),  //
                                    HasSubstr("stash")));
  }
}

TEST(Program, ShippedPlansFitTheirModels) {
  const std::filesystem::path configs = std::filesystem::path(TANDEM_SOURCE_DIR) / "configs";
  int plans = 0;
  for (const auto& file : std::filesystem::directory_iterator(configs / "plan")) {
    const std::string name = file.path().stem().string();
    for (const auto& candidate : std::filesystem::directory_iterator(configs / "model")) {
      const TransformerModel model = load_model(candidate.path());
      if (!name.starts_with(model.name + "-")) continue;
      const Plan plan = load_plan(file.path());
      EXPECT_THAT(problems(plan, model, plan.devices()), IsEmpty()) << name;
      EXPECT_THAT(remarks(resolved(plan, model), model), testing::Each(HasSubstr("is padded to"))) << name;
      ++plans;
    }
  }
  EXPECT_GE(plans, 8);
}

}  // namespace
}  // namespace tandem
