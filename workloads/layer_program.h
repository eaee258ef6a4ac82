// SPDX-License-Identifier: Apache-2.0
// From the operators of a layer to the steps that a device takes: slices of compute between communication.
#pragma once

#include <string>
#include <vector>

#include "workloads/layer_graph.h"
#include "workloads/layer_shapes.h"
#include "workloads/program.h"

namespace tandem {

/// Distinct slices; equal graphs are kept once.
class SliceTable {
 public:
  ComputeStep add(const std::string& name, OperatorGraph graph);
  std::vector<Slice> take() { return std::move(slices_); }

 private:
  std::vector<Slice> slices_;
};

/// Forward and backward steps of one microbatch. With full recompute the backward begins with the forward steps again,
/// communication included; with selective recompute the attention core precedes its own gradients, as do the scores
/// of flash attention always. `share`: the layer's parameters, which ZeRO stages 2 and 3 gather and scatter.
LayerProgram layer_program(const LayerGraph& layer, const Plan& plan, const ParameterShare& share, SliceTable& slices);

/// One collective over the replicas of the dense parameters and one over those of the experts, as far as there are
/// any; `bytes_each`: of one parameter or gradient.
std::vector<Step> replica_steps(CollectiveKind kind, const ParameterShare& share, Bytes bytes_each, const Plan& plan,
                                const std::string& what);

/// The operator step on one device's share of `parameters`: Adam or SGD with fp32 master weights unless all is fp32.
/// Source: mixed-precision training (arXiv 1710.03740); byte counts as in ZeRO (arXiv 1910.02054), section 3.1.
Operator optimizer_operator(std::int64_t parameters, const Plan& plan);

}  // namespace tandem
