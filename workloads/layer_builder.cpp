// SPDX-License-Identifier: Apache-2.0
#include "workloads/layer_builder.h"

#include <fmt/core.h>

#include <utility>

namespace tandem {

CollectiveStep collective_step(Axis axis, CollectiveKind kind, Bytes bytes, const std::string& what) {
  std::string name = fmt::format("{}.{}", name_of(axis), name_of(kind));
  if (!what.empty()) name += "." + what;
  return {std::move(name), axis, {kind, bytes, CollectiveAlgorithm::automatic}};
}

LayerBuilder::LayerBuilder(std::string name, std::string begins_with, const TransformerModel& model, const Plan& plan)
    : model_(model), plan_(plan), shapes_(layer_shapes(model, plan)) {
  layer_.name = std::move(name);
  point(begins_with);
}

LayerBuilder::Index LayerBuilder::add(Operator op, const After& after) {
  return layer_.forward.add(std::move(op), after);
}

LayerBuilder::Index LayerBuilder::vector(const std::string& name, OperatorKind kind, VectorShape shape,
                                         const After& after) {
  return add(make_vector(name, kind, shape, activation_type(plan_)), after);
}

LayerBuilder::Index LayerBuilder::linear(const std::string& name, std::int64_t rows, std::int64_t cols, std::int64_t n,
                                         const After& after) {
  return linear(name, MatmulShape{1, rows, n, cols}, after);
}

LayerBuilder::Index LayerBuilder::linear(const std::string& name, const MatmulShape& shape, const After& after) {
  Operator op = make_matmul(name, shape, plan_.dtype);
  op.outputs.front().bytes = size_of(activation_type(plan_)) * checked_product(shape.batch, shape.m, shape.n);
  return add(std::move(op), after);
}

LayerBuilder::Index LayerBuilder::norm(const std::string& name, std::int64_t rows, const After& after) {
  const OperatorKind kind = model_.norm == Norm::layernorm ? OperatorKind::layernorm : OperatorKind::rmsnorm;
  return stash(vector(name, kind, {rows, model_.hidden}, after));
}

LayerBuilder::Index LayerBuilder::bias(const std::string& name, VectorShape shape, Index to) {
  return vector(name, OperatorKind::bias_add, shape, {to});
}

LayerBuilder::Index LayerBuilder::join(const std::string& name, bool with_bias, const After& branch,
                                       const After& residual) {
  const VectorShape shape{shapes_.split_tokens, model_.hidden};
  After last = branch;
  if (with_bias) last = {vector(name + ".bias", OperatorKind::bias_add, shape, last)};
  if (model_.hidden_dropout > 0) last = {vector(name + ".dropout", OperatorKind::dropout, shape, last)};
  last.insert(last.end(), residual.begin(), residual.end());
  return stash(vector(name + ".residual", OperatorKind::residual_add, shape, last));
}

LayerBuilder::Index LayerBuilder::stash(Index index) {
  op(index).outputs.front().stashed = true;
  return index;
}

CommunicationPoint& LayerBuilder::point(const std::string& behind) {
  CommunicationPoint here;
  here.before = static_cast<Index>(layer_.forward.operators.size());
  here.behind = behind;
  return layer_.points.emplace_back(std::move(here));
}

void LayerBuilder::enter_tensor_region(const std::string& behind, int tensors) {
  CommunicationPoint& here = point(behind);
  if (plan_.tp == 1) return;
  const Bytes whole = size_of(activation_type(plan_)) * checked_product(shapes_.tokens, model_.hidden);
  for (int i = 0; i < tensors; ++i) {
    if (plan_.sequence_parallel) {
      here.forward.push_back(collective_step(Axis::tensor, CollectiveKind::all_gather, whole));
      here.backward.push_back(collective_step(Axis::tensor, CollectiveKind::reduce_scatter, whole));
      here.regather.push_back(collective_step(Axis::tensor, CollectiveKind::all_gather, whole, "regather"));
    } else {
      here.backward.push_back(collective_step(Axis::tensor, CollectiveKind::all_reduce, whole));
    }
  }
}

void LayerBuilder::leave_tensor_region(const std::string& behind, std::int64_t cols) {
  CommunicationPoint& here = point(behind);
  if (plan_.tp == 1) return;
  const Bytes whole = size_of(activation_type(plan_)) * checked_product(shapes_.tokens, cols);
  if (plan_.sequence_parallel) {
    here.forward.push_back(collective_step(Axis::tensor, CollectiveKind::reduce_scatter, whole));
    here.backward.push_back(collective_step(Axis::tensor, CollectiveKind::all_gather, whole));
  } else {
    here.forward.push_back(collective_step(Axis::tensor, CollectiveKind::all_reduce, whole));
  }
}

void LayerBuilder::begin_core() { layer_.core_begin = static_cast<Index>(layer_.forward.operators.size()); }
void LayerBuilder::end_core() { layer_.core_end = static_cast<Index>(layer_.forward.operators.size()); }

Bytes stashed_bytes(const OperatorGraph& forward) {
  Bytes sum{};
  for (const Operator& op : forward.operators) {
    for (const Operand& output : op.outputs) {
      if (output.stashed) sum += output.bytes;
    }
  }
  return sum;
}

}  // namespace tandem
