// SPDX-License-Identifier: Apache-2.0
// Shared by the builders of embedding, block and head.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/layer_graph.h"
#include "workloads/layer_shapes.h"

namespace tandem {

/// A layer under construction: operators in order, with names, shapes and stash marks, and communication between them.
/// Every method that adds an operator returns its index, which stands for its output.
class LayerBuilder {
 public:
  using Index = std::int32_t;
  using After = std::vector<Index>;

  LayerBuilder(std::string name, std::string begins_with, const TransformerModel& model, const Plan& plan);

  [[nodiscard]] const LayerShapes& shapes() const { return shapes_; }
  [[nodiscard]] const TransformerModel& model() const { return model_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Operator& op(Index index) { return layer_.forward.operators.at(static_cast<std::size_t>(index)); }

  Index add(Operator op, const After& after = {});
  Index vector(const std::string& name, OperatorKind kind, VectorShape shape, const After& after = {});
  /// rows x cols times a weight of cols x n.
  Index linear(const std::string& name, std::int64_t rows, std::int64_t cols, std::int64_t n, const After& after = {});
  /// The same for `batch` weights of their own (experts).
  Index linear(const std::string& name, const MatmulShape& shape, const After& after);
  Index norm(const std::string& name, std::int64_t rows, const After& after = {});
  Index bias(const std::string& name, VectorShape shape, Index to);
  /// Bias (if any), dropout (if any) and residual of a branch's output; the sum is stashed.
  Index join(const std::string& name, bool with_bias, const After& branch, const After& residual);

  /// Marks the main output as kept for the backward pass.
  Index stash(Index index);

  /// From parts of the tokens (or whole, equal ones) to whole tokens ahead of column-parallel matmuls, for `tensors`
  /// activations of the hidden width.
  void enter_tensor_region(const std::string& behind, int tensors = 1);
  /// After row-parallel matmuls: partial sums of width `cols` are added up.
  void leave_tensor_region(const std::string& behind, std::int64_t cols);
  CommunicationPoint& point(const std::string& behind);

  void begin_core();
  void end_core();

  LayerGraph take() { return std::move(layer_); }

 private:
  const TransformerModel& model_;
  const Plan& plan_;
  LayerShapes shapes_;
  LayerGraph layer_;
};

}  // namespace tandem
