// SPDX-License-Identifier: Apache-2.0
#include "workloads/plan.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <numeric>
#include <utility>

namespace tandem {

std::int64_t Plan::devices() const { return checked_product(tp, cp, dp, pp); }

std::int64_t Plan::microbatches() const { return global_batch / checked_product(dp, microbatch); }

std::vector<std::int64_t> even_stages(std::int64_t layers, std::int64_t stages) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(stages), layers / stages);
  for (std::int64_t i = 0; i < layers % stages; ++i) ++result[static_cast<std::size_t>(i)];
  return result;
}

Plan resolved(Plan plan, const TransformerModel& model) {
  if (plan.stage_layers.empty() && plan.pp > 0 && plan.virtual_stages > 0) {
    plan.stage_layers = even_stages(model.layers, checked_product(plan.pp, plan.virtual_stages));
  }
  if (plan.sequence == 0) plan.sequence = model.max_positions;
  return plan;
}

Coordinates coordinates(const Plan& plan, std::int64_t device) {
  Coordinates at;
  at.tp = device % plan.tp;
  device /= plan.tp;
  at.cp = device % plan.cp;
  device /= plan.cp;
  at.dp = device % plan.dp;
  at.pp = device / plan.dp;
  return at;
}

std::int64_t device_at(const Plan& plan, const Coordinates& at) {
  return at.tp + plan.tp * (at.cp + plan.cp * (at.dp + plan.dp * at.pp));
}

namespace {

/// Devices as one coordinate runs through `count` values from `first` in steps of `step`.
std::vector<std::int64_t> along(const Plan& plan, Coordinates at, std::int64_t Coordinates::*axis, std::int64_t first,
                                std::int64_t count, std::int64_t step = 1) {
  std::vector<std::int64_t> devices;
  for (std::int64_t i = 0; i < count; ++i) {
    at.*axis = first + i * step;
    devices.push_back(device_at(plan, at));
  }
  return devices;
}

/// dp members from `first` in steps of `step`, each with its whole cp group.
std::vector<std::int64_t> replicas(const Plan& plan, Coordinates at, std::int64_t first, std::int64_t step) {
  std::vector<std::int64_t> devices;
  for (at.dp = first; at.dp < plan.dp; at.dp += step) {
    const auto members = along(plan, at, &Coordinates::cp, 0, plan.cp);
    devices.insert(devices.end(), members.begin(), members.end());
  }
  return devices;
}

}  // namespace

std::vector<std::int64_t> group(const Plan& plan, Axis axis, const Coordinates& at) {
  switch (axis) {
    case Axis::tensor: return along(plan, at, &Coordinates::tp, 0, plan.tp);
    case Axis::context: return along(plan, at, &Coordinates::cp, 0, plan.cp);
    case Axis::expert: return along(plan, at, &Coordinates::dp, at.dp - at.dp % plan.ep, plan.ep);
    case Axis::data: return replicas(plan, at, 0, 1);
    case Axis::expert_data: return replicas(plan, at, at.dp % plan.ep, plan.ep);
    case Axis::pipeline: return along(plan, at, &Coordinates::pp, 0, plan.pp);
    case Axis::embedding: break;
  }
  if (plan.pp == 1) return {device_at(plan, at)};
  return along(plan, at, &Coordinates::pp, 0, 2, plan.pp - 1);
}

std::vector<std::string> remarks(const Plan& plan, const TransformerModel& model) {
  std::vector<std::string> found;
  const std::int64_t copies = plan.dp * plan.cp;
  if (plan.sequence_parallel && plan.tp == 1) found.emplace_back("sequence_parallel has no effect with tp 1");
  if (plan.recompute == Recompute::selective && plan.attention == Attention::flash) {
    found.emplace_back("recompute selective has no effect: flash attention recomputes its scores anyway");
  }
  if (plan.zero_stage > 0 && copies == 1) {
    found.push_back(fmt::format("zero_stage {} has no effect on one replica", plan.zero_stage));
  }
  if (plan.overlap_gradients && copies == 1) found.emplace_back("overlap_gradients has no effect on one replica");
  if (plan.overlap_gradients && plan.zero_stage > 1) {
    found.push_back(
        fmt::format("overlap_gradients has no effect with zero_stage {}: gradients are exchanged in every "
                    "backward pass",
                    plan.zero_stage));
  }
  if (plan.fp32_gradients && plan.dtype == DataType::fp32) {
    found.emplace_back("fp32_gradients has no effect: the data type is fp32 already");
  }
  if (const std::int64_t padded = plan.tp * vocabulary_share(model, plan.tp); padded != model.vocab) {
    found.push_back(fmt::format("vocabulary {} is padded to {} for tp {}", model.vocab, padded, plan.tp));
  }
  if (plan.sequence > model.max_positions && model.position_embeddings == 0) {
    found.push_back(fmt::format("sequence {} is longer than the model's {} positions (rotary: it runs all the same)",
                                plan.sequence, model.max_positions));
  }
  return found;
}

}  // namespace tandem
