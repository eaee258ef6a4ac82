// SPDX-License-Identifier: Apache-2.0
// The placements that a search may choose from.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/plan.h"

namespace tandem {

/// Every combination of these lists that fits devices, model and batch is a candidate. An empty degree list stands for
/// all divisors; `dp` follows from devices / (tp * pp) and the list only restricts it.
struct PlanSpace {
  std::int64_t devices = 0;
  std::int64_t global_batch = 0;  ///< sequences per iteration
  std::int64_t sequence = 0;      ///< tokens per sequence
  DataType dtype = DataType::bf16;
  Optimizer optimizer = Optimizer::adam;
  std::vector<std::int64_t> tp, pp, dp;
  std::vector<std::int64_t> microbatch;  ///< empty: all divisors of the batch of one replica
  std::vector<Recompute> recompute{Recompute::none, Recompute::selective, Recompute::full};
  std::vector<PipelineSchedule> schedule{PipelineSchedule::one_f_one_b};
  std::vector<std::int64_t> virtual_stages{2};  ///< tried with the interleaved schedule only
  std::vector<bool> sequence_parallel{false, true};
  std::vector<std::int64_t> zero_stage{0};
  std::vector<Attention> attention{Attention::unfused};
  std::vector<bool> overlap_gradients{false};
  bool fp32_gradients = true;
};

/// All plans of the space but for the stages' layers (`stage_layers` is empty), in a fixed order. Combinations that
/// mean the same as another (sequence parallel without tensor parallel, a schedule without a pipeline) appear once.
std::vector<Plan> enumerate_plans(const PlanSpace& space, const TransformerModel& model);

}  // namespace tandem
