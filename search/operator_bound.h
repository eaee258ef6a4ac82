// SPDX-License-Identifier: Apache-2.0
// What no mapping can beat: lower bounds on predicted times, in fractions of a microsecond per operator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/chip.h"
#include "workloads/operator.h"
#include "workloads/operator_graph.h"

namespace tandem {

/// Bounds for operators on all cores of one chip.
class OperatorBound {
 public:
  /// `chip` must outlive this.
  explicit OperatorBound(const Chip& chip);

  /// No mapping of `op` is predicted faster: launch and the latencies in and out, and the largest of, each as if alone:
  /// - the arrays' streams, folds as coarse as the whole problem's (the sum of ceilings is no less than the ceiling of
  ///   the sum);
  /// - HBM: every operand once; and of the three ways to reuse blocks in the global buffer the one with least traffic:
  /// A
  ///   (or B) a panel of whole k at a time, so that B (A) is read once per panel; or a block of C that stands in all
  ///   buffers while k turns, 2 m n k / sqrt(elements) at least (Hong and Kung, STOC 1981);
  /// - the cores' ports: an output tile of m x n loads k (m + n) elements, and its partial sums fit the local buffer;
  /// - the vector cores' cycles.
  [[nodiscard]] Seconds quick(const Operator& op) const;

  /// The same, and no less than the best of the mapper's own output tiles: its loads through the port, and its stay in
  /// the local buffer, from the request over latencies and fill to the end, divided by the tiles that fit at once.
  [[nodiscard]] Seconds close(const Operator& op) const;

 private:
  [[nodiscard]] Seconds outside(const Operator& op) const;
  [[nodiscard]] Seconds memory_time(const Operator& op) const;
  [[nodiscard]] Seconds best_tile_time(const Operator& op) const;

  const Chip& chip_;
  double memory_rate_ = 0;  ///< bytes per second, in the long run
  Seconds memory_latency_{}, noc_latency_{};
};

/// Operators by number, and their dependences.
struct WorkGraph {
  std::vector<std::int32_t> operators;
  std::vector<OperatorGraph::Edge> edges;
};

/// No schedule with every operator on all cores of its kind is faster, given least times by number: matmuls exclude
/// each other, so do operators with vector work, and dependences hold.
Seconds least_graph_time(const WorkGraph& graph, std::span<const Operator> operators, std::span<const Seconds> times);

}  // namespace tandem
