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

/// Moves element-wise operators that are fed by one matmul alone into its epilogue; the tensor between them no longer
/// touches HBM. Elements, FLOPs and all other operands are conserved.
OperatorGraph fuse(const OperatorGraph& graph);

/// Backward pass of a forward graph: for each operator its data gradient, for each matmul also the gradient of B
/// (a weight gradient where B is a weight), in reverse order. Source: chain rule; Megatron-LM (arXiv 1909.08053).
OperatorGraph backward(const OperatorGraph& forward);

}  // namespace tandem
