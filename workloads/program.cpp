// SPDX-License-Identifier: Apache-2.0
#include "workloads/program.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "arch/support/error.h"
#include "arch/support/units.h"
#include "workloads/layer_graph.h"
#include "workloads/layer_program.h"
#include "workloads/layer_shapes.h"

namespace tandem {
namespace {

enum LayerIndex : std::int32_t { kEmbedding, kBlock, kHead, kReceive, kDeliver };

std::vector<ParameterShare> layer_shares(const TransformerModel& model, const Plan& plan) {
  return {embedding_share(model, plan), block_share(model, plan), head_share(model, plan), {}, {}};
}

/// Whether the tensor-parallel ranks of a stage hold the same activations and send each a part of them.
bool scatters_sends(const Plan& plan) {
  return plan.scattered_sends && plan.tp > 1 && !plan.sequence_parallel && plan.stage_layers.size() > 1 && plan.pp > 1;
}

std::vector<LayerRun> layer_runs(const Plan& plan, std::size_t stage) {
  std::vector<LayerRun> runs;
  if (scatters_sends(plan) && stage > 0) runs.push_back({kReceive, 1});
  if (stage == 0) runs.push_back({kEmbedding, 1});
  if (plan.stage_layers[stage] > 0) runs.push_back({kBlock, plan.stage_layers[stage]});
  if (stage + 1 == plan.stage_layers.size()) runs.push_back({kHead, 1});
  if (scatters_sends(plan) && stage + 1 < plan.stage_layers.size()) runs.push_back({kDeliver, 1});
  return runs;
}

ParameterShare stage_share(const std::vector<LayerRun>& runs, const std::vector<ParameterShare>& shares) {
  ParameterShare sum;
  for (const LayerRun& run : runs) {
    const ParameterShare& one = shares[static_cast<std::size_t>(run.layer)];
    sum.dense += checked_product(run.count, one.dense);
    sum.expert += checked_product(run.count, one.expert);
  }
  return sum;
}

/// Hidden states of one microbatch between stages. Under sequence parallelism a device sends its own part of the
/// tokens; otherwise all tp devices hold and send the same.
Bytes boundary_bytes(const TransformerModel& model, const Plan& plan) {
  return size_of(activation_type(plan)) * checked_product(layer_shapes(model, plan).split_tokens, model.hidden);
}

Bytes message_bytes(const TransformerModel& model, const Plan& plan) {
  const Bytes whole = boundary_bytes(model, plan);
  return scatters_sends(plan) ? Bytes(ceil_div(whole.value(), plan.tp)) : whole;
}

/// Layers without operators: what scattered sends brought in parts is gathered, activations ahead of a stage's first
/// layer, gradients behind its last.
std::vector<LayerProgram> gathering_layers(const TransformerModel& model, const Plan& plan) {
  if (!scatters_sends(plan)) return {};
  const std::vector<Step> gather{
      collective_step(Axis::tensor, CollectiveKind::all_gather, boundary_bytes(model, plan), "activations")};
  return {{.name = "receive", .forward = gather, .backward = {}},
          {.name = "deliver", .forward = {}, .backward = gather}};
}

/// What is left to do once per iteration.
class Ending {
 public:
  Ending(const TransformerModel& model, const Plan& plan, SliceTable& slices)
      : model_(model), plan_(plan), slices_(slices) {}

  std::vector<Step> steps(std::size_t stage, const ParameterShare& share) {
    std::vector<Step> result;
    const bool exchanged = plan_.overlap_gradients || plan_.zero_stage >= 2;
    if (!exchanged) append(result, exchange(share));
    // Buckets hold the dense gradients; those of experts go over other groups.
    if (exchanged && plan_.zero_stage < 2 && plan_.ep > 1) append(result, exchange({0, share.expert}));
    append(result, sum_over_tensor_group(plan_.stage_layers[stage]));
    append(result, sum_tied_tables(stage));
    append(result, {Step(update(share))});
    if (plan_.zero_stage == 1 || plan_.zero_stage == 2) {
      append(result, replica_steps(CollectiveKind::all_gather, share, parameter_bytes(plan_), plan_, "parameters"));
    }
    return result;
  }

 private:
  static void append(std::vector<Step>& to, const std::vector<Step>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  [[nodiscard]] std::vector<Step> exchange(const ParameterShare& share) const {
    const auto kind = plan_.zero_stage == 0 ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter;
    return replica_steps(kind, share, gradient_bytes(plan_), plan_, "gradients");
  }

  /// Sequence parallelism leaves partial gradients of what works on parts of the tokens.
  [[nodiscard]] std::vector<Step> sum_over_tensor_group(std::int64_t blocks) const {
    if (!plan_.sequence_parallel || plan_.tp == 1 || blocks == 0) return {};
    const Bytes bytes = gradient_bytes(plan_) * checked_product(blocks, block_split_parameters(model_));
    return {collective_step(Axis::tensor, CollectiveKind::all_reduce, bytes, "norm_gradients")};
  }

  [[nodiscard]] std::vector<Step> sum_tied_tables(std::size_t stage) const {
    const bool holds_table = stage == 0 || stage + 1 == plan_.stage_layers.size();
    if (!model_.tied_embeddings || plan_.pp == 1 || !holds_table) return {};
    const std::int64_t table = checked_product(layer_shapes(model_, plan_).vocab, model_.embedding_dim);
    return {
        collective_step(Axis::embedding, CollectiveKind::all_reduce, gradient_bytes(plan_) * table, "tied_gradients")};
  }

  ComputeStep update(const ParameterShare& share) {
    OperatorGraph graph;
    graph.add(optimizer_operator(optimizer_share(share, plan_), plan_));
    return slices_.add("optimizer", std::move(graph));
  }

  const TransformerModel& model_;
  const Plan& plan_;
  SliceTable& slices_;
};

/// Dense gradients by layer, last layer first.
std::vector<Bytes> gradient_buckets(const std::vector<LayerRun>& runs, const std::vector<ParameterShare>& shares,
                                    const Plan& plan) {
  std::vector<Bytes> buckets;
  if (!plan.overlap_gradients || plan.zero_stage >= 2 || plan.dp * plan.cp == 1) return buckets;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->layer == kReceive || run->layer == kDeliver) continue;
    const ParameterShare& share = shares[static_cast<std::size_t>(run->layer)];
    const Bytes bytes = gradient_bytes(plan) * (share.dense + (plan.ep == 1 ? share.expert : 0));
    buckets.insert(buckets.end(), static_cast<std::size_t>(run->count), bytes);
  }
  return buckets;
}

}  // namespace

namespace {

/// Devices of the plan, or none if its degrees are nonsense, which problems() reports.
std::int64_t devices_of(const Plan& plan) {
  try {
    return plan.devices();
  } catch (const std::overflow_error&) {
    return 0;
  }
}

}  // namespace

Program build_program(const TransformerModel& model, const Plan& given) {
  const std::vector<std::string> found = problems(given, model, devices_of(given));
  if (!found.empty()) throw ConfigError(fmt::format("plan for {}: {}", model.name, fmt::join(found, "\n")));
  Program program;
  program.model = model;
  program.plan = resolved(given, model);
  const Plan& plan = program.plan;
  const std::vector<ParameterShare> shares = layer_shares(model, plan);
  SliceTable slices;
  program.layers = {layer_program(embedding_layer(model, plan), plan, shares[kEmbedding], slices),
                    layer_program(block_layer(model, plan), plan, shares[kBlock], slices),
                    layer_program(head_layer(model, plan), plan, shares[kHead], slices)};
  for (LayerProgram& layer : gathering_layers(model, plan)) program.layers.push_back(std::move(layer));
  Ending ending(model, plan, slices);
  const std::size_t stages = plan.stage_layers.size();
  for (std::size_t stage = 0; stage < stages; ++stage) {
    StageProgram one;
    one.layers = layer_runs(plan, stage);
    if (stage + 1 < stages) one.send_forward = message_bytes(model, plan);
    if (stage > 0) one.send_backward = message_bytes(model, plan);
    one.after = ending.steps(stage, stage_share(one.layers, shares));
    one.gradient_buckets = gradient_buckets(one.layers, shares, plan);
    program.stages.push_back(std::move(one));
  }
  program.slices = slices.take();
  program.memory = memory_footprint(model, plan);
  return program;
}

void check_memory(const Program& program, Bytes capacity) {
  const auto worst = std::max_element(program.memory.begin(), program.memory.end(),
                                      [](const auto& a, const auto& b) { return a.total() < b.total(); });
  if (worst == program.memory.end() || worst->total() <= capacity) return;
  const std::pair<const char*, Bytes> categories[] = {{"parameters", worst->parameters},
                                                      {"gradients", worst->gradients},
                                                      {"optimizer", worst->optimizer},
                                                      {"stash", worst->stash},
                                                      {"workspace", worst->workspace}};
  const auto* largest = std::max_element(std::begin(categories), std::end(categories),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string parts;
  for (const auto& [name, bytes] : categories) parts += fmt::format(", {} {}", name, to_text(bytes));
  throw InfeasibleError(fmt::format("stage {} needs {} of {} of memory, {} too much; most of it is {}{}",
                                    worst - program.memory.begin(), to_text(worst->total()), to_text(capacity),
                                    to_text(worst->total() - capacity), largest->first, parts));
}

}  // namespace tandem
