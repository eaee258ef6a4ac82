// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "workloads/operator_graph.h"

namespace tandem {
namespace {

using Index = std::int32_t;

Operand plain(const Operand& operand) { return {operand.bytes, operand.where, operand.weight}; }

Operator with_plane_fixed(Operator op) {
  if (op.causal && op.causal_keys == 0) op.causal_keys = op.matmul.m;
  return op;
}

/// dA[m, k] = dC[m, n] B^T[n, k].
Operator gradient_of_a(const Operator& op) {
  Operator result = with_plane_fixed(op);
  const bool weight = op.inputs[1].weight;
  result.name += weight ? ".dgrad" : ".grad_a";
  result.pass = Pass::backward_data;
  result.matmul = {op.matmul.batch, op.matmul.m, op.matmul.k, op.matmul.n};
  result.inputs = {plain(op.outputs[0]), plain(op.inputs[1])};
  result.outputs = {plain(op.inputs[0])};
  if (weight) {
    // A gradient of activations has the type of results, which is wider than the inputs' in fp8.
    const std::int64_t results = checked_product(op.matmul.batch, op.matmul.m, op.matmul.n);
    const Bytes element = op.outputs[0].bytes / std::max<std::int64_t>(results, 1);
    result.outputs[0].bytes = element * checked_product(op.matmul.batch, op.matmul.m, op.matmul.k);
  }
  return result;
}

/// dB[k, n] = A^T[k, m] dC[m, n].
Operator gradient_of_b(const Operator& op) {
  Operator result = with_plane_fixed(op);
  const bool weight = op.inputs[1].weight;
  result.name += weight ? ".wgrad" : ".grad_b";
  result.pass = weight ? Pass::backward_weight : Pass::backward_data;
  result.outputs = {plain(op.inputs[1])};
  if (op.causal && op.matmul.n == result.causal_keys) {
    // B holds the keys as columns. The gradient comes as rows of keys, dB^T[n, k] = dC^T[n, m] A[m, k], so that the
    // masked plane is that of the first operand.
    result.matmul = {op.matmul.batch, op.matmul.n, op.matmul.k, op.matmul.m};
    result.inputs = {plain(op.outputs[0]), plain(op.inputs[0])};
    return result;
  }
  result.matmul = {op.matmul.batch, op.matmul.k, op.matmul.n, op.matmul.m};
  result.inputs = {plain(op.inputs[0]), plain(op.outputs[0])};
  return result;
}

/// Kinds whose operands differ in size or type: the gradient comes in like the result and goes out like the input.
bool mirrors_operands(OperatorKind kind) {
  return kind == OperatorKind::cross_entropy || kind == OperatorKind::copy || kind == OperatorKind::reduce ||
         kind == OperatorKind::router;
}

Operator vector_gradient(const Operator& op, Pass pass) {
  Operator result = make_vector(op.name + ".grad", op.kind, op.vector, op.dtype, pass);
  if (op.inputs.empty() || op.outputs.empty()) return result;
  if (mirrors_operands(op.kind)) {
    result.inputs.clear();
    for (const Operand& operand : op.outputs) result.inputs.push_back(plain(operand));
    result.outputs = {plain(op.inputs.front())};
    return result;
  }
  for (Operand& operand : result.inputs) {
    if (!operand.weight) operand.where = op.outputs.front().where;
  }
  for (Operand& operand : result.outputs) {
    if (!operand.weight) operand.where = op.inputs.front().where;
  }
  return result;
}

class Backward {
 public:
  explicit Backward(const OperatorGraph& forward)
      : forward_(forward), predecessors_(forward.predecessors()), sources_(forward.operators.size()) {}

  OperatorGraph run() {
    for (auto i = static_cast<Index>(forward_.operators.size()) - 1; i >= 0; --i) differentiate(i);
    return std::move(result_);
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  Index add(Operator op, Index forward_index) {
    const std::set<Index>& after = sources_[at(forward_index)];
    return result_.add(std::move(op), {after.begin(), after.end()});
  }

  void differentiate(Index i) {
    const Operator& op = forward_.operators[at(i)];
    std::set<Index> gradients;  // those that hold the gradient of what `op` reads
    if (is_matmul(op.kind)) {
      gradients.insert(add(gradient_of_a(op), i));
      const Index of_b = add(gradient_of_b(op), i);
      if (!op.inputs[1].weight) gradients.insert(of_b);
    } else if (op.kind == OperatorKind::bias_add) {
      add(vector_gradient(op, Pass::backward_weight), i);
      gradients = sources_[at(i)];
    } else if (op.kind == OperatorKind::embedding) {
      add(vector_gradient(op, Pass::backward_weight), i);
    } else {
      gradients.insert(add(vector_gradient(op, Pass::backward_data), i));
    }
    for (const Index before : predecessors_[at(i)]) sources_[at(before)].insert(gradients.begin(), gradients.end());
  }

  const OperatorGraph& forward_;
  std::vector<std::vector<Index>> predecessors_;
  std::vector<std::set<Index>> sources_;  ///< operators of `result_` that make the gradient of an operator's output
  OperatorGraph result_;
};

}  // namespace

OperatorGraph backward(const OperatorGraph& forward) {
  validate(forward);
  return Backward(forward).run();
}

}  // namespace tandem
