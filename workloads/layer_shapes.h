// SPDX-License-Identifier: Apache-2.0
// What one device holds of a layer and of a microbatch: the one place where degrees divide dimensions.
#pragma once

#include <cstdint>

#include "workloads/model.h"
#include "workloads/plan.h"

namespace tandem {

struct LayerShapes {
  std::int64_t sequences = 0;     ///< of a microbatch
  std::int64_t queries = 0;       ///< tokens per sequence on this device (sequence / cp)
  std::int64_t keys = 0;          ///< tokens per sequence that attention looks at
  std::int64_t tokens = 0;        ///< sequences x queries
  std::int64_t split_tokens = 0;  ///< outside the tensor-parallel regions: tokens / tp under sequence parallelism
  std::int64_t heads = 0, kv_heads = 0, ffn = 0, vocab = 0;  ///< this device's share
  std::int64_t experts = 0;                                  ///< on this device
  std::int64_t expert_tokens = 0;                            ///< of each of them, all equally loaded (rounded up)
  std::int64_t routed_tokens = 0;                            ///< tokens x experts per token
};

/// Shares of a plan without problems(). Key-value heads fewer than tp are repeated. Source: Megatron-LM (arXiv
/// 1909.08053) for tp, Korthikanti et al. (arXiv 2205.05198) for sequence parallelism.
LayerShapes layer_shapes(const TransformerModel& model, const Plan& plan);

/// Parameters of a layer on one device: those that every data-parallel replica holds, and experts.
struct ParameterShare {
  std::int64_t dense = 0, expert = 0;
  [[nodiscard]] std::int64_t total() const { return dense + expert; }
};
ParameterShare embedding_share(const TransformerModel& model, const Plan& plan);
ParameterShare block_share(const TransformerModel& model, const Plan& plan);
/// With pipeline parallelism a tied table has a copy with the head.
ParameterShare head_share(const TransformerModel& model, const Plan& plan);

/// Parameters whose optimizer state stands on one device: all, or this replica's part (rounded up) from ZeRO stage 1.
std::int64_t optimizer_share(const ParameterShare& share, const Plan& plan);

/// Of block_share: parameters that tensor parallelism repeats and sequence parallelism feeds with a part of the
/// tokens (norms, biases after a row-parallel matmul), so that their gradients have to be summed over tp.
std::int64_t block_split_parameters(const TransformerModel& model);

/// Type of everything but the inputs of linear layers: fp8 and int8 are formats of those alone, the rest is bf16 (as in
/// Transformer Engine).
DataType activation_type(const Plan& plan);
/// Bytes of one parameter or gradient in memory.
Bytes parameter_bytes(const Plan& plan);
Bytes gradient_bytes(const Plan& plan);

}  // namespace tandem
