// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention.h"
#include "workloads/layer_graph.h"

namespace tandem {
namespace {

using Index = LayerBuilder::Index;
using After = LayerBuilder::After;

OperatorKind activation_kind(Activation activation) {
  switch (activation) {
    case Activation::gelu: return OperatorKind::gelu;
    case Activation::relu: return OperatorKind::relu;
    case Activation::silu: break;
  }
  return OperatorKind::silu_mul;
}

Index add_activation(LayerBuilder& in, const std::string& name, std::int64_t rows, Index of) {
  const VectorShape shape{rows, in.shapes().ffn};
  const OperatorKind kind = activation_kind(in.model().activation);
  // A rectifier's gradient follows from its result.
  if (kind != OperatorKind::relu) in.stash(of);
  return in.stash(in.vector(name, kind, shape, {of}));
}

Index add_mlp(LayerBuilder& in, const After& from) {
  const LayerShapes& shapes = in.shapes();
  const std::int64_t columns = (in.model().gated_mlp ? 2 : 1) * shapes.ffn;
  Index up = in.linear("mlp.up", shapes.tokens, in.model().hidden, columns, from);
  if (in.model().mlp_bias) up = in.bias("mlp.up.bias", {shapes.tokens, columns}, up);
  const Index active = add_activation(in, "mlp.activation", shapes.tokens, up);
  return in.linear("mlp.down", shapes.tokens, shapes.ffn, in.model().hidden, {active});
}

/// Tokens travel to their experts and back.
void exchange_tokens(LayerBuilder& in, const std::string& behind) {
  if (in.plan().ep == 1) return;
  const Bytes bytes =
      size_of(activation_type(in.plan())) * checked_product(in.shapes().routed_tokens, in.model().hidden);
  CommunicationPoint& here = in.point(behind);
  here.forward.push_back(collective_step(Axis::expert, CollectiveKind::all_to_all, bytes));
  here.backward.push_back(collective_step(Axis::expert, CollectiveKind::all_to_all, bytes));
}

Index add_experts(LayerBuilder& in, const After& from) {
  const LayerShapes& shapes = in.shapes();
  const TransformerModel& model = in.model();
  const Index logits = in.linear("moe.router", shapes.tokens, model.hidden, model.experts, from);
  const Index chosen = in.stash(in.vector("moe.topk", OperatorKind::router, {shapes.tokens, model.experts}, {logits}));
  After sources = from;
  sources.push_back(chosen);
  const Index sent =
      in.stash(in.vector("moe.permute", OperatorKind::copy, {shapes.routed_tokens, model.hidden}, sources));
  exchange_tokens(in, "experts");
  const std::int64_t columns = (model.gated_mlp ? 2 : 1) * shapes.ffn;
  const std::int64_t rows = checked_product(shapes.experts, shapes.expert_tokens);
  const DataType dtype = activation_type(in.plan());
  const Index up =
      in.linear("moe.up", MatmulShape{shapes.experts, shapes.expert_tokens, columns, model.hidden}, {sent});
  const Index active = add_activation(in, "moe.activation", rows, up);
  const Index down = in.stash(
      in.linear("moe.down", MatmulShape{shapes.experts, shapes.expert_tokens, model.hidden, shapes.ffn}, {active}));
  exchange_tokens(in, "combine");
  const VectorShape parts{shapes.tokens, checked_product(model.experts_per_token, model.hidden)};
  Operator combine = make_vector("moe.combine", OperatorKind::reduce, parts, dtype);
  combine.outputs = {{.bytes = size_of(dtype) * checked_product(shapes.tokens, model.hidden)}};
  return in.add(combine, {down, chosen});
}

Index add_feed_forward(LayerBuilder& in, const After& from) {
  return in.model().experts > 0 ? add_experts(in, from) : add_mlp(in, from);
}

/// Attention and MLP read the same input and are summed before one exchange (GPT-NeoX, arXiv 2204.06745, section 2.1).
void add_parallel(LayerBuilder& in) {
  const LayerShapes& shapes = in.shapes();
  const TransformerModel& model = in.model();
  const Index attention_norm = in.norm("attention.norm", shapes.split_tokens);
  const Index mlp_norm = in.norm("mlp.norm", shapes.split_tokens);
  in.enter_tensor_region("attention+mlp", 2);
  const Index attention = add_attention(in, {attention_norm});
  const Index mlp = add_feed_forward(in, {mlp_norm});
  const Index sum = in.vector("block.sum", OperatorKind::residual_add, {shapes.tokens, model.hidden}, {attention, mlp});
  in.leave_tensor_region("residual", model.hidden);
  in.join("block", model.output_bias || model.mlp_bias, {sum}, {});
}

/// Norm, branch, residual (GPT-2), or branch, residual, norm (BERT); twice.
void add_sequential(LayerBuilder& in) {
  const std::int64_t rows = in.shapes().split_tokens;
  const TransformerModel& model = in.model();
  const bool before = !model.post_norm;
  After stream;
  const auto half = [&](const std::string& name, const auto& branch, bool with_bias) {
    After input = stream;
    if (before) input = {in.norm(name + ".norm", rows, stream)};
    in.enter_tensor_region(name);
    const Index output = branch(in, input);
    in.leave_tensor_region(name + ".residual", model.hidden);
    stream = {in.join(name, with_bias, {output}, stream)};
    if (!before) stream = {in.norm(name + ".norm", rows, stream)};
  };
  half("attention", add_attention, model.output_bias);
  half("mlp", add_feed_forward, model.mlp_bias && model.experts == 0);
}

}  // namespace

LayerGraph block_layer(const TransformerModel& model, const Plan& plan) {
  LayerBuilder builder("block", "norm", model, plan);
  if (model.parallel_residual) {
    add_parallel(builder);
  } else {
    add_sequential(builder);
  }
  return builder.take();
}

}  // namespace tandem
