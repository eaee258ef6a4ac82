// SPDX-License-Identifier: Apache-2.0
#include "workloads/layer_shapes.h"

#include <algorithm>

namespace tandem {
namespace {

std::int64_t norm_size(const TransformerModel& model) { return (model.norm == Norm::layernorm ? 2 : 1) * model.hidden; }

/// Matrices and column-parallel biases of one MLP, or one expert, on one device; the row-parallel bias is apart.
std::int64_t mlp_share(const TransformerModel& model, std::int64_t ffn) {
  const std::int64_t columns = (model.gated_mlp ? 2 : 1) * ffn;
  return checked_product(model.hidden, columns + ffn) + (model.mlp_bias ? columns : 0);
}

}  // namespace

LayerShapes layer_shapes(const TransformerModel& model, const Plan& plan) {
  LayerShapes shapes;
  shapes.sequences = plan.microbatch;
  shapes.queries = plan.sequence / plan.cp;
  shapes.keys = plan.sequence;
  shapes.tokens = checked_product(shapes.sequences, shapes.queries);
  shapes.split_tokens = plan.sequence_parallel ? shapes.tokens / plan.tp : shapes.tokens;
  shapes.heads = model.heads / plan.tp;
  shapes.kv_heads = std::max<std::int64_t>(1, model.kv_heads / plan.tp);
  shapes.ffn = model.ffn / plan.tp;
  shapes.vocab = vocabulary_share(model, plan.tp);
  if (model.experts > 0) {
    shapes.experts = model.experts / plan.ep;
    shapes.routed_tokens = checked_product(shapes.tokens, model.experts_per_token);
    shapes.expert_tokens = ceil_div(checked_product(shapes.routed_tokens, plan.ep), model.experts);
  }
  return shapes;
}

ParameterShare embedding_share(const TransformerModel& model, const Plan& plan) {
  std::int64_t sum = checked_product(vocabulary_share(model, plan.tp), model.embedding_dim) +
                     checked_product(model.position_embeddings + model.token_types, model.hidden);
  if (model.embedding_norm) sum += norm_size(model);
  if (model.embedding_dim != model.hidden) sum += checked_product(model.embedding_dim, model.hidden);
  return {sum, 0};
}

ParameterShare block_share(const TransformerModel& model, const Plan& plan) {
  const LayerShapes shapes = layer_shapes(model, plan);
  const std::int64_t query = checked_product(shapes.heads, model.head_dim);
  const std::int64_t columns = query + checked_product(2, shapes.kv_heads, model.head_dim);
  ParameterShare share;
  share.dense = checked_product(model.hidden, columns + query) + (model.attention_bias ? columns : 0) +
                block_split_parameters(model);
  const std::int64_t mlp = mlp_share(model, shapes.ffn);
  if (model.experts == 0) {
    share.dense += mlp;
  } else {
    share.dense += checked_product(model.hidden, model.experts);
    share.expert = checked_product(shapes.experts, mlp + (model.mlp_bias ? model.hidden : 0));
  }
  return share;
}

std::int64_t block_split_parameters(const TransformerModel& model) {
  std::int64_t sum = 2 * norm_size(model);
  if (model.output_bias) sum += model.hidden;
  if (model.mlp_bias && model.experts == 0) sum += model.hidden;
  return sum;
}

ParameterShare head_share(const TransformerModel& model, const Plan& plan) {
  const std::int64_t vocab = vocabulary_share(model, plan.tp);
  std::int64_t sum = model.final_norm ? norm_size(model) : 0;
  if (!model.tied_embeddings || plan.pp > 1) sum += checked_product(vocab, model.embedding_dim);
  if (model.embedding_dim != model.hidden) sum += checked_product(model.hidden, model.embedding_dim);
  if (model.head_bias) sum += vocab;
  const std::int64_t dense = checked_product(model.hidden, model.hidden) + model.hidden;
  if (model.pooler) sum += dense;
  if (model.mlm_transform) sum += dense + norm_size(model);
  if (model.nsp_head) sum += 2 * model.hidden + 2;
  return {sum, 0};
}

std::int64_t optimizer_share(const ParameterShare& share, const Plan& plan) {
  if (plan.zero_stage == 0) return share.total();
  const std::int64_t replicas = checked_product(plan.dp, plan.cp);
  return ceil_div(share.dense, replicas) + ceil_div(share.expert, replicas / plan.ep);
}

DataType activation_type(const Plan& plan) { return size_of(plan.dtype) < Bytes(2) ? DataType::bf16 : plan.dtype; }

Bytes parameter_bytes(const Plan& plan) { return size_of(activation_type(plan)); }

Bytes gradient_bytes(const Plan& plan) { return plan.fp32_gradients ? Bytes(4) : parameter_bytes(plan); }

}  // namespace tandem
