// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "arch/support/quantity.h"
#include "workloads/model.h"
#include "workloads/plan.h"

namespace tandem {

/// Memory of one device by category.
struct MemoryFootprint {
  Bytes parameters, gradients, optimizer, stash, workspace;
  [[nodiscard]] Bytes total() const { return parameters + gradients + optimizer + stash + workspace; }
};

/// Parameters held by one device of `stage` (virtual stages summed), tensor-, expert-parallel shares exact.
std::int64_t device_parameters(const TransformerModel& model, const Plan& plan, std::int64_t stage);

/// Activations kept for the backward pass of one microbatch by one layer on one device.
/// Source: Korthikanti et al. (arXiv 2205.05198), section 4, by shape (GQA, gated MLP, flash attention).
Bytes layer_stash(const TransformerModel& model, const Plan& plan);

/// Peak of each category on a device of each pipeline stage.
std::vector<MemoryFootprint> memory_footprint(const TransformerModel& model, const Plan& plan);

}  // namespace tandem
