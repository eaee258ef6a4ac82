// SPDX-License-Identifier: Apache-2.0
// The operators of one layer on one device, and where they stop to communicate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/model.h"
#include "workloads/operator_graph.h"
#include "workloads/plan.h"
#include "workloads/program.h"

namespace tandem {

/// "tp.all_reduce", with `what` behind it where that is not plain.
CollectiveStep collective_step(Axis axis, CollectiveKind kind, Bytes bytes, const std::string& what = {});

/// Communication that stands before operator `before` (or after the last).
struct CommunicationPoint {
  std::int32_t before = 0;
  std::string behind;                   ///< what the operators behind it are ("attention", "mlp")
  std::vector<CollectiveStep> forward;  ///< in the forward pass
  /// In the backward pass: after the gradients of the operators behind the point, and before them (inputs that were
  /// stashed in parts and have to be gathered again).
  std::vector<CollectiveStep> backward, regather;
};

struct LayerGraph {
  std::string name;
  OperatorGraph forward;
  std::vector<CommunicationPoint> points;  ///< in order; the first stands before operator 0 and may be silent
  /// Attention core (scores to context): what selective recompute and flash attention compute again.
  std::int32_t core_begin = 0, core_end = 0;
};

/// Tokens in, hidden states out: vocabulary-parallel lookup, positions, dropout.
LayerGraph embedding_layer(const TransformerModel& model, const Plan& plan);
/// One transformer block: tensor parallelism by columns then rows (Megatron-LM, arXiv 1909.08053, section 3), sequence
/// parallelism (Korthikanti et al., arXiv 2205.05198, section 4.2.2), context parallelism by gathering keys and values
/// (Llama 3, arXiv 2407.21783, section 3.3.2), experts by all-to-all (GShard, arXiv 2006.16668), balanced.
/// Flash attention (arXiv 2205.14135) keeps scores and probabilities in the cores and skips what the causal mask hides;
/// unfused attention computes the whole square.
LayerGraph block_layer(const TransformerModel& model, const Plan& plan);
/// Final norm, logits, vocabulary-parallel cross entropy (three all-reduces of one number a token).
LayerGraph head_layer(const TransformerModel& model, const Plan& plan);

/// Bytes of forward activations that are marked as kept for the backward pass.
Bytes stashed_bytes(const OperatorGraph& forward);

}  // namespace tandem
