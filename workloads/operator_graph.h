// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/operator.h"

namespace tandem {

/// A directed acyclic graph of operators; operators stand in a topological order.
struct OperatorGraph {
  struct Edge {
    std::int32_t from = 0, to = 0;  ///< from < to
    bool operator==(const Edge&) const = default;
  };
  std::vector<Operator> operators;
  std::vector<Edge> edges;

  bool operator==(const OperatorGraph&) const = default;

  /// Appends `op` after the operators `after`; returns its index.
  std::int32_t add(Operator op, const std::vector<std::int32_t>& after = {});
  [[nodiscard]] std::vector<std::vector<std::int32_t>> predecessors() const;
  [[nodiscard]] Flops flops() const;
  [[nodiscard]] Bytes hbm_bytes() const;
};

/// Throws std::invalid_argument if an edge does not point forward or names no operator.
void validate(const OperatorGraph& graph);

/// Kinds whose every element depends on the same element of their operands alone.
bool is_element_wise(OperatorKind kind);

/// Moves an element-wise operator into the epilogue of the matmul (or element-wise operator) that feeds it and nobody
/// else; the tensor between them no longer touches HBM, unless it is stashed: then it is written but not read again.
/// Elements, FLOPs and all other operands are conserved.
OperatorGraph fuse(const OperatorGraph& graph);

/// Backward pass of a forward graph: for each operator its data gradient, for each matmul also the gradient of B
/// (a weight gradient where B is a weight), in reverse order. A bias has a weight gradient alone (its data gradient is
/// the identity), as has an embedding; a norm's weight gradients ride on its data gradient. The sum of gradients where
/// a residual forks is charged to the residual. Names: "<name>.dgrad", ".wgrad" (matmul with a weight), ".grad_a",
/// ".grad_b" (product of activations), ".grad" (vector kinds). Source: chain rule; Megatron-LM (arXiv 1909.08053).
OperatorGraph backward(const OperatorGraph& forward);

}  // namespace tandem
