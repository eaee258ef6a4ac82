// SPDX-License-Identifier: Apache-2.0
#include "workloads/operator.h"

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "workloads/vector_work.h"

namespace tandem {
namespace {

/// Twice the needed MACs of one causal product. With s keys and q queries (all, or a balanced part), q (s + 1) / 2 of
/// the q s pairs are on or below the diagonal, so doubling stays in whole numbers. s is one of m, n, k.
std::int64_t causal_flops(const Operator& op) {
  const auto& [batch, m, n, k] = op.matmul;
  const std::int64_t keys = op.causal_keys > 0 ? op.causal_keys : m;
  return checked_product(checked_product(batch, m, n, k) / keys, keys + 1);
}

Flops element_flops(OperatorKind kind, Pass pass, const VectorShape& shape) {
  const auto per_element = vector_work(kind, pass).per_element;
  const double operations = std::accumulate(per_element.begin(), per_element.end(), 0.0);
  const double total = operations * static_cast<double>(checked_product(shape.rows, shape.cols));
  if (total >= 9.2e18) throw std::overflow_error("vector operations exceed 64 bits");
  return Flops(std::llround(total));
}

Bytes in_hbm(const std::vector<Operand>& operands) {
  Bytes sum{};
  for (const Operand& operand : operands) {
    if (operand.where == Residency::hbm) sum += operand.bytes;
  }
  return sum;
}

/// Parameters along a row that the kind brings with it.
std::int64_t own_weights(OperatorKind kind, std::int64_t cols) {
  switch (kind) {
    case OperatorKind::layernorm: return 2 * cols;
    case OperatorKind::rmsnorm:
    case OperatorKind::bias_add: return cols;
    default: return 0;
  }
}

}  // namespace

Flops Operator::matmul_flops() const {
  if (!is_matmul(kind)) return Flops(0);
  if (causal) return Flops(causal_flops(*this));
  return Flops(checked_product(2, matmul.batch, matmul.m, matmul.n, matmul.k));
}

Flops Operator::vector_flops() const {
  Flops sum = is_matmul(kind) ? Flops(0) : element_flops(kind, pass, vector);
  for (const FusedWork& work : epilogue) sum += element_flops(work.kind, work.pass, work.shape);
  return sum;
}

Bytes Operator::hbm_bytes() const {
  Bytes sum = in_hbm(inputs) + in_hbm(outputs);
  for (const FusedWork& work : epilogue) sum += work.extra_read + work.extra_write;
  return sum;
}

Operator make_matmul(std::string name, MatmulShape shape, DataType dtype, Pass pass, bool b_is_weight) {
  Operator op;
  op.name = std::move(name);
  op.kind = shape.batch == 1 ? OperatorKind::matmul : OperatorKind::batched_matmul;
  op.pass = pass;
  op.dtype = dtype;
  op.matmul = shape;
  const auto& [batch, m, n, k] = shape;
  op.inputs = {{.bytes = size_of(dtype) * checked_product(batch, m, k)},
               {.bytes = size_of(dtype) * checked_product(batch, k, n), .weight = b_is_weight}};
  op.outputs = {{.bytes = size_of(dtype) * checked_product(batch, m, n)}};
  return op;
}

Operator make_vector(std::string name, OperatorKind kind, VectorShape shape, DataType dtype, Pass pass) {
  Operator op;
  op.name = std::move(name);
  op.kind = kind;
  op.pass = pass;
  op.dtype = dtype;
  op.vector = shape;
  const VectorWork work = vector_work(kind, pass);
  const Bytes full = size_of(dtype) * checked_product(shape.rows, shape.cols);
  op.inputs.assign(static_cast<std::size_t>(work.full_reads), {.bytes = full});
  op.outputs.assign(static_cast<std::size_t>(work.full_writes), {.bytes = full});
  const bool backward = pass == Pass::backward_data || pass == Pass::backward_weight;
  if (const std::int64_t weights = own_weights(kind, shape.cols); weights > 0) {
    const Operand operand{.bytes = size_of(dtype) * weights, .weight = true};
    // A bias is not needed for its own gradient; a norm's scale is.
    if (!backward || kind != OperatorKind::bias_add) op.inputs.push_back(operand);
    if (backward) op.outputs.push_back(operand);
  }
  if (kind == OperatorKind::dropout) {
    auto& with_mask = backward ? op.inputs : op.outputs;
    with_mask.push_back({.bytes = Bytes(checked_product(shape.rows, shape.cols)), .stashed = !backward});
  }
  return op;
}

}  // namespace tandem
