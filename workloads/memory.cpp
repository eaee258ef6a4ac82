// SPDX-License-Identifier: Apache-2.0
#include "workloads/memory.h"

#include <algorithm>

#include "workloads/layer_graph.h"
#include "workloads/layer_shapes.h"
#include "workloads/pipeline.h"

namespace tandem {
namespace {

/// Layers on one pipeline device, its virtual stages together.
struct DeviceLayers {
  std::int64_t blocks = 0;
  std::int64_t most_blocks = 0;  ///< of one virtual stage
  bool embedding = false, head = false;
};

DeviceLayers device_layers(const Plan& plan, std::int64_t device) {
  DeviceLayers layers;
  layers.embedding = device == 0;
  layers.head = device == plan.pp - 1;
  for (std::int64_t chunk = 0; chunk < plan.virtual_stages; ++chunk) {
    const std::int64_t blocks = plan.stage_layers[static_cast<std::size_t>(chunk * plan.pp + device)];
    layers.blocks += blocks;
    layers.most_blocks = std::max(layers.most_blocks, blocks);
  }
  return layers;
}

ParameterShare device_share(const TransformerModel& model, const Plan& plan, std::int64_t device) {
  const DeviceLayers layers = device_layers(plan, device);
  const ParameterShare block = block_share(model, plan);
  ParameterShare sum{checked_product(layers.blocks, block.dense), checked_product(layers.blocks, block.expert)};
  if (layers.embedding) sum.dense += embedding_share(model, plan).dense;
  if (layers.head) sum.dense += head_share(model, plan).dense;
  return sum;
}

/// Bytes by the terms of Korthikanti et al., section 4.1, for one microbatch and layer.
class Stash {
 public:
  Stash(const TransformerModel& model, const Plan& plan)
      : model_(model), plan_(plan), shapes_(layer_shapes(model, plan)), element_(size_of(activation_type(plan))) {}

  /// The input of the layer: of the first norm, or (BERT) of the first matmul.
  [[nodiscard]] Bytes input() const { return element_ * checked_product(shapes_.split_tokens, model_.hidden); }

  /// Softmax, dropout mask and dropped-out probabilities; of flash attention one number a row.
  [[nodiscard]] Bytes core() const {
    const std::int64_t rows = checked_product(shapes_.sequences, shapes_.heads, shapes_.queries);
    if (plan_.attention == Attention::flash) return Bytes(4) * rows;
    const Bytes matrix = element_ * checked_product(rows, shapes_.keys);
    if (model_.attention_dropout == 0) return matrix;
    return matrix * 2 + Bytes(checked_product(rows, shapes_.keys));
  }

  [[nodiscard]] Bytes attention() const {
    const std::int64_t context = checked_product(shapes_.tokens, shapes_.heads, model_.head_dim);
    const std::int64_t key_value = checked_product(2, shapes_.tokens, shapes_.kv_heads, model_.head_dim);
    return element_ * (2 * context + key_value);  // query, key, value; input of the output projection
  }

  [[nodiscard]] Bytes feed_forward() const {
    const std::int64_t tensors = model_.gated_mlp ? 3 : model_.activation == Activation::relu ? 1 : 2;
    if (model_.experts == 0) return element_ * checked_product(tensors, shapes_.tokens, shapes_.ffn);
    const std::int64_t rows = checked_product(shapes_.experts, shapes_.expert_tokens);
    return element_ * (checked_product(shapes_.tokens, model_.experts) +               // router
                       checked_product(shapes_.routed_tokens, model_.hidden) +         // sent to experts
                       checked_product(rows, tensors * shapes_.ffn + model_.hidden));  // inside, and coming back
  }

  /// Inputs of both norms and of both column-parallel matmuls.
  [[nodiscard]] Bytes norms() const { return input() * (model_.parallel_residual ? 3 : 4); }

  [[nodiscard]] Bytes dropout_masks() const {
    if (model_.hidden_dropout == 0) return Bytes(0);
    const std::int64_t branches = model_.parallel_residual ? 1 : 2;
    return Bytes(checked_product(branches, shapes_.split_tokens, model_.hidden));
  }

  [[nodiscard]] Bytes everything() const { return norms() + attention() + core() + feed_forward() + dropout_masks(); }

 private:
  const TransformerModel& model_;
  const Plan& plan_;
  LayerShapes shapes_;
  Bytes element_;
};

Bytes hbm_activations(const std::vector<Operand>& operands) {
  Bytes sum{};
  for (const Operand& operand : operands) {
    if (operand.where == Residency::hbm && !operand.weight && !operand.stashed) sum += operand.bytes;
  }
  return sum;
}

/// Largest set of activations that one operator has at hand beside what is stashed: its results and the results, not
/// kept, that it reads.
Bytes transient(const OperatorGraph& graph) {
  Bytes most{};
  const auto before = graph.predecessors();
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    Bytes sum = hbm_activations(graph.operators[i].outputs);
    for (const std::int32_t from : before[i]) {
      sum += hbm_activations(graph.operators[static_cast<std::size_t>(from)].outputs);
    }
    most = std::max(most, sum);
  }
  return most;
}

Bytes transient(const LayerGraph& layer) {
  return std::max(transient(layer.forward), transient(backward(layer.forward)));
}

struct Workspaces {
  Bytes embedding, block, head;
};

/// What is at hand while one layer runs: its transients, and what is computed again or gathered for it alone.
Bytes layer_workspace(const LayerGraph& layer, const ParameterShare& share, const Plan& plan) {
  Bytes bytes = transient(layer);
  if (plan.zero_stage == 3 && plan.dp * plan.cp > 1) {
    bytes += (parameter_bytes(plan) + gradient_bytes(plan)) * share.total();
  }
  return bytes;
}

Workspaces workspaces(const TransformerModel& model, const Plan& plan) {
  const Stash stash(model, plan);
  Workspaces result{layer_workspace(embedding_layer(model, plan), embedding_share(model, plan), plan),
                    layer_workspace(block_layer(model, plan), block_share(model, plan), plan),
                    layer_workspace(head_layer(model, plan), head_share(model, plan), plan)};
  if (plan.recompute == Recompute::full) result.block += stash.everything() - stash.input();
  if (plan.recompute == Recompute::selective && plan.attention == Attention::unfused) result.block += stash.core();
  return result;
}

/// Stash of all microbatches in flight. Virtual stages are taken as large as the device's largest; the head's backward
/// follows its forward at once, except under GPipe.
Bytes device_stash(const TransformerModel& model, const Plan& plan, std::int64_t device) {
  const DeviceLayers layers = device_layers(plan, device);
  const std::int64_t flying = in_flight(plan.schedule, plan.pp, device, plan.microbatches(), plan.virtual_stages);
  Bytes bytes = layer_stash(model, plan) * checked_product(flying, layers.most_blocks);
  const std::int64_t whole = std::min(flying, plan.microbatches());
  if (layers.embedding) bytes += stashed_bytes(embedding_layer(model, plan).forward) * whole;
  if (layers.head) {
    const bool all = plan.schedule == PipelineSchedule::gpipe || splits_backward(plan.schedule);
    const Bytes head = stashed_bytes(head_layer(model, plan).forward) + Stash(model, plan).input();
    bytes += head * (all ? whole : 1);
  }
  return bytes;
}

/// fp32 master weights beside 16-bit ones, and Adam's two moments. Source: ZeRO (arXiv 1910.02054), section 3.1.
Bytes optimizer_bytes(const Plan& plan) {
  const std::int64_t master = parameter_bytes(plan) < Bytes(4) ? 4 : 0;
  return Bytes(master + (plan.optimizer == Optimizer::adam ? 8 : 0));
}

}  // namespace

std::int64_t device_parameters(const TransformerModel& model, const Plan& given, std::int64_t stage) {
  return device_share(model, resolved(given, model), stage).total();
}

Bytes layer_stash(const TransformerModel& model, const Plan& given) {
  const Plan plan = resolved(given, model);
  const Stash stash(model, plan);
  switch (plan.recompute) {
    case Recompute::full: return stash.input();
    case Recompute::selective:
      if (plan.attention == Attention::unfused) return stash.everything() - stash.core();
      break;
    case Recompute::none: break;
  }
  return stash.everything();
}

std::vector<MemoryFootprint> memory_footprint(const TransformerModel& model, const Plan& given) {
  const Plan plan = resolved(given, model);
  const Workspaces spaces = workspaces(model, plan);
  std::vector<MemoryFootprint> footprints;
  for (std::int64_t device = 0; device < plan.pp; ++device) {
    const DeviceLayers layers = device_layers(plan, device);
    const ParameterShare share = device_share(model, plan, device);
    const std::int64_t sharded = optimizer_share(share, plan);
    MemoryFootprint one;
    one.parameters = parameter_bytes(plan) * (plan.zero_stage == 3 ? sharded : share.total());
    one.gradients = gradient_bytes(plan) * (plan.zero_stage >= 2 ? sharded : share.total());
    one.optimizer = optimizer_bytes(plan) * sharded;
    one.stash = device_stash(model, plan, device);
    one.workspace = layers.blocks > 0 ? spaces.block : Bytes(0);
    if (layers.embedding) one.workspace = std::max(one.workspace, spaces.embedding);
    if (layers.head) one.workspace = std::max(one.workspace, spaces.head);
    footprints.push_back(one);
  }
  return footprints;
}

}  // namespace tandem
