// SPDX-License-Identifier: Apache-2.0
#include "workloads/vector_work.h"

namespace tandem {
namespace {

/// Operations per element, in the order of VectorOp.
struct Ops {
  double simple = 0, multiply_add = 0, divide = 0, exponential = 0, reduce = 0;
};
struct Traffic {
  int reads = 1, writes = 1, passes = 1, row_reductions = 0;
};

VectorWork work(const Ops& ops, const Traffic& traffic = {}) {
  return {{ops.simple, ops.multiply_add, ops.divide, ops.exponential, ops.reduce},
          traffic.reads,
          traffic.writes,
          traffic.passes,
          traffic.row_reductions};
}

VectorWork forward_work(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::matmul:
    case OperatorKind::batched_matmul: return work({}, {.reads = 0, .writes = 0});
    // max; exp(x - max) and its sum; divide: three reads of a row that does not stay near.
    case OperatorKind::softmax:
      return work({.simple = 1, .divide = 1, .exponential = 1, .reduce = 2}, {.passes = 3, .row_reductions = 2});
    // mean; (x - mean)^2 and its mean; normalise; scale and shift.
    case OperatorKind::layernorm:
      return work({.simple = 1, .multiply_add = 3, .reduce = 2}, {.passes = 2, .row_reductions = 2});
    // x^2 and its mean; normalise; scale.
    case OperatorKind::rmsnorm: return work({.multiply_add = 3, .reduce = 1}, {.passes = 2, .row_reductions = 1});
    // h = x/2; h + h tanh(k x (1 + c x^2)).
    case OperatorKind::gelu: return work({.multiply_add = 6, .exponential = 1});
    case OperatorKind::relu: return work({.simple = 1});
    // gate / (1 + exp(-gate)) * up; gate and up are an operand each.
    case OperatorKind::silu_mul:
      return work({.simple = 1, .multiply_add = 1, .divide = 1, .exponential = 1}, {.reads = 2});
    case OperatorKind::bias_add: return work({.simple = 1});
    case OperatorKind::residual_add: return work({.simple = 1}, {.reads = 2});
    // x cos + rotated(x) sin; the two tables are small and shared by all heads.
    case OperatorKind::rotary: return work({.multiply_add = 2});
    // Compare with the threshold, scale. Random bits are taken to be free (a generator beside the lanes).
    case OperatorKind::dropout: return work({.simple = 1, .multiply_add = 1});
    case OperatorKind::scale_mask: return work({.simple = 1, .multiply_add = 1});
    case OperatorKind::embedding: return work({.simple = 1});
    // A softmax over the vocabulary that keeps its result for the backward pass.
    case OperatorKind::cross_entropy:
      return work({.simple = 1, .divide = 1, .exponential = 1, .reduce = 2}, {.passes = 3, .row_reductions = 2});
    // A softmax over the experts, then the largest ones.
    case OperatorKind::router:
      return work({.simple = 1, .divide = 1, .exponential = 1, .reduce = 3}, {.row_reductions = 3});
    case OperatorKind::copy: return work({.simple = 1});
    // Weighted sum of the parts of a row; the result is smaller than the operand and stated by the operator.
    case OperatorKind::reduce: return work({.multiply_add = 1}, {.writes = 0});
    // Adam: m (2), v (3), step (1), decay (1); square root and quotient; epsilon and conversion. State: gradient, m, v
    // and master weight in; m, v, master and working weight out.
    case OperatorKind::optimizer: return work({.simple = 2, .multiply_add = 7, .divide = 2}, {.reads = 4, .writes = 4});
  }
  return {};
}

VectorWork data_gradient_work(OperatorKind kind) {
  switch (kind) {
    // y (dy - sum(y dy)).
    case OperatorKind::softmax:
    case OperatorKind::router:
      return work({.simple = 1, .multiply_add = 2, .reduce = 1}, {.reads = 2, .passes = 2, .row_reductions = 1});
    // xhat; g = dy gamma; sums of g and g xhat; rstd (g - a - b xhat); sums of dy and dy xhat over rows.
    case OperatorKind::layernorm:
      return work({.simple = 3, .multiply_add = 6, .reduce = 2}, {.reads = 2, .passes = 2, .row_reductions = 2});
    // xhat; g = dy gamma; sum of g xhat; rstd (g - b xhat); sum of dy xhat over rows.
    case OperatorKind::rmsnorm:
      return work({.multiply_add = 6, .reduce = 1}, {.reads = 2, .passes = 2, .row_reductions = 1});
    // dy ((1 + t) / 2 + x/2 (1 - t^2) k (1 + 3 c x^2)) with t computed again.
    case OperatorKind::gelu: return work({.multiply_add = 11, .exponential = 1}, {.reads = 2});
    case OperatorKind::relu: return work({.simple = 1}, {.reads = 2});
    // s = sigmoid(gate), g = s gate; dup = dy g; dgate = dy up (s + g (1 - s)).
    case OperatorKind::silu_mul:
      return work({.simple = 2, .multiply_add = 5, .divide = 1, .exponential = 1}, {.reads = 3, .writes = 2});
    case OperatorKind::dropout: return work({.multiply_add = 1});
    case OperatorKind::scale_mask: return work({.simple = 1, .multiply_add = 1});
    // (softmax - one at the label) dloss.
    case OperatorKind::cross_entropy: return work({.multiply_add = 1});
    // The gradient of a row, times each part's weight.
    case OperatorKind::reduce: return work({.multiply_add = 1}, {.reads = 0, .writes = 1});
    default: return forward_work(kind);
  }
}

VectorWork weight_gradient_work(OperatorKind kind) {
  switch (kind) {
    // Sum of dy over rows.
    case OperatorKind::bias_add: return work({.simple = 1}, {.writes = 0});
    // Rows of the gradient are added into the table's: dy and the old sum in, the new sum out.
    case OperatorKind::embedding: return work({.simple = 1}, {.reads = 2});
    default: return data_gradient_work(kind);
  }
}

}  // namespace

VectorWork vector_work(OperatorKind kind, Pass pass) {
  switch (pass) {
    case Pass::backward_data: return data_gradient_work(kind);
    case Pass::backward_weight: return weight_gradient_work(kind);
    case Pass::forward:
    case Pass::recompute:
    case Pass::update: break;
  }
  return forward_work(kind);
}

}  // namespace tandem
