// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "random_cases.h"
#include "workloads/layer_graph.h"
#include "workloads/layer_shapes.h"
#include "workloads/program.h"

namespace tandem {
namespace {

using testing_cases::Draw;
using testing_cases::random_model;
using testing_cases::random_plan;

constexpr std::uint64_t kCases = 400;

struct Case {
  TransformerModel model;
  Plan plan;
};

/// A random case without problems.
Case random_case(std::uint64_t seed) {
  Draw draw(seed);
  for (;;) {
    Case one{random_model(draw), {}};
    one.plan = random_plan(draw, one.model);
    if (problems(one.plan, one.model, one.plan.devices()).empty()) return one;
  }
}

double matmul_flops(const OperatorGraph& graph, std::string_view except = "-") {
  double sum = 0;
  for (const Operator& op : graph.operators) {
    if (!op.name.starts_with(except)) sum += static_cast<double>(op.matmul_flops().value());
  }
  return sum;
}

double slice_flops(const Program& program, const std::vector<Step>& steps, bool recomputed) {
  double sum = 0;
  for (const Step& step : steps) {
    const auto* compute = std::get_if<ComputeStep>(&step);
    if (compute == nullptr) continue;
    for (const Operator& op : program.slices[static_cast<std::size_t>(compute->slice)].graph.operators) {
      if ((op.pass == Pass::recompute) == recomputed) sum += static_cast<double>(op.matmul_flops().value());
    }
  }
  return sum;
}

TEST(ProgramProperty, UnslicedForwardIsTheStandardFormula) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const auto [model, drawn] = random_case(seed);
    Plan plan;
    plan.sequence = drawn.sequence;
    plan.microbatch = plan.global_batch = drawn.microbatch;
    plan.recompute = Recompute::none;
    const Program program = build_program(model, plan);
    double forward = 0, backward = 0;
    for (const StageProgram& stage : program.stages) {
      for (const LayerRun& run : stage.layers) {
        const LayerProgram& layer = program.layers[static_cast<std::size_t>(run.layer)];
        forward += static_cast<double>(run.count) * slice_flops(program, layer.forward, false);
        backward += static_cast<double>(run.count) * slice_flops(program, layer.backward, false);
      }
    }
    ASSERT_DOUBLE_EQ(forward, forward_flops(model, plan.microbatch, plan.sequence)) << seed << " " << model.name;
    ASSERT_DOUBLE_EQ(backward, 2 * forward) << seed;
  }
}

TEST(ProgramProperty, TensorParallelSharesAddUp) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    auto [model, plan] = random_case(seed);
    if (model.kv_heads % plan.tp != 0) continue;  // repeated key-value heads: repeated projections
    Plan whole = plan;
    whole.tp = 1;
    whole.sequence_parallel = false;
    const auto tp = static_cast<double>(plan.tp);
    // The router of a mixture of experts runs on every device of the group.
    ASSERT_DOUBLE_EQ(tp * matmul_flops(block_layer(model, plan).forward, "moe.router"),
                     matmul_flops(block_layer(model, whole).forward, "moe.router"))
        << seed;
    const auto logits = [](const LayerGraph& head) {
      double sum = 0;
      for (const Operator& op : head.forward.operators) {
        if (op.name == "head.logits") sum += static_cast<double>(op.matmul_flops().value());
      }
      return sum;
    };
    ASSERT_DOUBLE_EQ(tp * logits(head_layer(model, plan)), logits(head_layer(model, whole))) << seed;
  }
}

TEST(ProgramProperty, BackwardIsTwiceForwardPlusWhatIsRecomputed) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const auto [model, plan] = random_case(seed);
    const Program program = build_program(model, plan);
    for (const LayerProgram& layer : program.layers) {
      const double forward = slice_flops(program, layer.forward, false);
      ASSERT_DOUBLE_EQ(slice_flops(program, layer.backward, false), 2 * forward) << seed << layer.name;
      const double again = slice_flops(program, layer.backward, true);
      if (plan.recompute == Recompute::full) {
        ASSERT_GE(again, forward) << seed << layer.name;
      } else if (layer.name != "block" || (plan.recompute == Recompute::none && plan.attention == Attention::unfused)) {
        ASSERT_EQ(again, 0) << seed << layer.name;
      } else {
        ASSERT_GT(again, 0) << seed;
        ASSERT_LT(again, forward) << seed;
      }
    }
  }
}

TEST(ProgramProperty, StagesHoldEveryLayerOnce) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const auto [model, plan] = random_case(seed);
    const Program program = build_program(model, plan);
    std::vector<std::int64_t> count(program.layers.size());
    for (const StageProgram& stage : program.stages) {
      for (const LayerRun& run : stage.layers) count[static_cast<std::size_t>(run.layer)] += run.count;
    }
    ASSERT_EQ(count, (std::vector<std::int64_t>{1, model.layers, 1})) << seed;
    ASSERT_EQ(program.stages.front().send_backward, Bytes(0));
    ASSERT_EQ(program.stages.back().send_forward, Bytes(0));
    ASSERT_EQ(program.memory.size(), static_cast<std::size_t>(plan.pp));
    for (const Slice& slice : program.slices) ASSERT_NO_THROW(validate(slice.graph)) << seed << slice.name;
  }
}

TEST(ProgramProperty, ParametersOfAllDevicesAreTheModels) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const auto [model, plan] = random_case(seed);
    if (model.kv_heads % plan.tp != 0) continue;
    std::int64_t held = 0;
    for (std::int64_t stage = 0; stage < plan.pp; ++stage) held += device_parameters(model, plan, stage);
    held *= plan.tp;
    // Tensor parallelism repeats norms, biases behind row-parallel matmuls, routers, positions and the small heads;
    // pipeline parallelism a tied table; expert parallelism leaves each device its part of the experts.
    const ParameterCounts counts = count_parameters(model);
    const ParameterShare block = block_share(model, plan);
    const std::int64_t elsewhere = block.expert * (plan.ep - 1) * plan.tp * model.layers;
    const std::int64_t router = model.hidden * model.experts;
    const std::int64_t repeated_block = (plan.tp - 1) * (block_split_parameters(model) + router) * model.layers;
    const std::int64_t table = model.vocab * model.embedding_dim;
    const std::int64_t own_table = model.tied_embeddings ? 0 : table;
    const std::int64_t bias = model.head_bias ? model.vocab : 0;
    const std::int64_t repeated_ends = (plan.tp - 1) * (counts.embedding - table + counts.head - own_table - bias);
    const std::int64_t tied_copy = model.tied_embeddings && plan.pp > 1 ? table : 0;
    ASSERT_EQ(held + elsewhere, counts.total + repeated_block + repeated_ends + tied_copy) << seed << " " << model.name;
  }
}

TEST(ProgramProperty, StashOfTheGraphIsTheClosedForm) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    auto [model, plan] = random_case(seed);
    plan.recompute = Recompute::none;
    ASSERT_EQ(stashed_bytes(block_layer(model, plan).forward), layer_stash(model, plan)) << seed << " " << model.name;
  }
}

TEST(ProgramProperty, ForwardAndBackwardMoveEquallyMuchOverEachAxis) {
  const auto moved = [](const std::vector<Step>& steps, Axis axis) {
    // An all-reduce moves twice what a reduce-scatter or an all-gather does.
    std::int64_t sum = 0;
    for (const Step& step : steps) {
      const auto* one = std::get_if<CollectiveStep>(&step);
      if (one == nullptr || one->axis != axis || one->name.ends_with("regather")) continue;
      if (one->name.ends_with("logit") || one->name.ends_with("exponentials")) continue;
      sum += (one->collective.kind == CollectiveKind::all_reduce ? 2 : 1) * one->collective.bytes.value();
    }
    return sum;
  };
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    auto [model, plan] = random_case(seed);
    plan.recompute = Recompute::none;
    if (model.parallel_residual) continue;  // one exchange forward, two backward
    const Program program = build_program(model, plan);
    const LayerProgram& block = program.layers[1];
    for (const Axis axis : {Axis::tensor, Axis::context, Axis::expert}) {
      ASSERT_EQ(moved(block.forward, axis), moved(block.backward, axis)) << seed << name_of(axis);
    }
  }
}

TEST(ProgramProperty, MemoryNeverGrowsWithZeroStageOrRecompute) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    auto [model, plan] = random_case(seed);
    plan.zero_stage = 0;
    const auto plain = memory_footprint(model, plan);
    for (const std::int64_t stage : {1, 2, 3}) {
      plan.zero_stage = stage;
      const auto sharded = memory_footprint(model, plan);
      for (std::size_t i = 0; i < plain.size(); ++i) {
        ASSERT_LE(sharded[i].optimizer, plain[i].optimizer) << seed;
        ASSERT_LE(sharded[i].gradients, plain[i].gradients) << seed;
        ASSERT_LE(sharded[i].parameters, plain[i].parameters) << seed;
      }
    }
    plan.zero_stage = 0;
    plan.recompute = Recompute::none;
    const Bytes none = layer_stash(model, plan);
    plan.recompute = Recompute::selective;
    const Bytes selective = layer_stash(model, plan);
    plan.recompute = Recompute::full;
    ASSERT_LE(selective, none) << seed;
    ASSERT_LT(layer_stash(model, plan), selective) << seed;
  }
}

}  // namespace
}  // namespace tandem
