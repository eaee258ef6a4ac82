// SPDX-License-Identifier: Apache-2.0
// Why a plan is impossible, with the numbers and the nearest ones that would do.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "workloads/plan.h"

namespace tandem {
namespace {

using Problems = std::vector<std::string>;

/// The multiples of `step` on both sides of `value`, the lower one only if positive.
std::string nearest_multiples(std::int64_t value, std::int64_t step) {
  const std::int64_t below = value / step * step;
  const std::int64_t above = checked_product(value / step + 1, step);
  return below > 0 ? fmt::format("{} or {}", below, above) : fmt::format("{}", above);
}

/// The divisors of `whole` on both sides of `value`.
std::string nearest_divisors(std::int64_t whole, std::int64_t value) {
  std::int64_t below = std::clamp<std::int64_t>(value, 1, whole);
  while (whole % below != 0) --below;
  std::int64_t above = std::min(value + 1, whole);
  while (whole % above != 0) ++above;
  return below == above ? fmt::format("{}", below) : fmt::format("{} or {}", below, above);
}

Problems degree_problems(const Plan& plan) {
  Problems found;
  const std::pair<const char*, std::int64_t> numbers[] = {{"tp", plan.tp},
                                                          {"pp", plan.pp},
                                                          {"dp", plan.dp},
                                                          {"cp", plan.cp},
                                                          {"ep", plan.ep},
                                                          {"microbatch", plan.microbatch},
                                                          {"global_batch", plan.global_batch},
                                                          {"virtual_stages", plan.virtual_stages}};
  constexpr std::int64_t kLargest = std::int64_t{1} << 40;
  for (const auto& [name, value] : numbers) {
    if (value < 1 || value > kLargest) found.push_back(fmt::format("{} is {}, expected 1 or more", name, value));
  }
  if (plan.zero_stage < 0 || plan.zero_stage > 3) {
    found.push_back(fmt::format("zero_stage is {}, expected 0, 1, 2 or 3", plan.zero_stage));
  }
  if (plan.sequence < 0 || plan.sequence > kLargest) {
    found.push_back(fmt::format("sequence is {}, expected 1 or more", plan.sequence));
  }
  return found;
}

void check_devices(const Plan& plan, std::int64_t devices, Problems& found) {
  const std::int64_t wanted = plan.devices();
  if (wanted == devices) return;
  const std::int64_t replica = checked_product(plan.tp, plan.cp, plan.pp);
  std::string what = fmt::format("tp {} x cp {} x pp {} x dp {} = {} devices, but there are {}", plan.tp, plan.cp,
                                 plan.pp, plan.dp, wanted, devices);
  if (devices >= replica && devices % replica == 0) {
    what += fmt::format("; dp {} would do", devices / replica);
  } else {
    what += fmt::format("; {} devices would do", nearest_multiples(devices, replica));
  }
  found.push_back(what);
}

void check_tensor(const Plan& plan, const TransformerModel& model, Problems& found) {
  if (model.heads % plan.tp != 0) {
    found.push_back(fmt::format("{} heads do not divide over tp {}; tp {} would do", model.heads, plan.tp,
                                nearest_divisors(model.heads, plan.tp)));
  } else if (model.kv_heads % plan.tp != 0 && plan.tp % model.kv_heads != 0) {
    found.push_back(fmt::format("{} key-value heads neither divide over tp {} nor repeat evenly on it; tp {} would do",
                                model.kv_heads, plan.tp, nearest_divisors(model.kv_heads, plan.tp)));
  }
  if (model.ffn % plan.tp != 0) {
    found.push_back(fmt::format("feed-forward size {} does not divide over tp {}; tp {} would do", model.ffn, plan.tp,
                                nearest_divisors(model.ffn, plan.tp)));
  }
}

void check_sequence(const Plan& plan, const TransformerModel& model, Problems& found) {
  if (model.position_embeddings > 0 && plan.sequence > model.max_positions) {
    found.push_back(
        fmt::format("sequence {} is longer than the model's {} learned positions", plan.sequence, model.max_positions));
  }
  // A causal part is two chunks, one early and one late, so that all devices have equal work.
  const std::int64_t chunks = plan.cp > 1 && model.causal ? 2 * plan.cp : plan.cp;
  if (plan.sequence % chunks != 0) {
    found.push_back(fmt::format("sequence {} does not divide into {} chunks (cp {}); {} would do", plan.sequence,
                                chunks, plan.cp, nearest_multiples(plan.sequence, chunks)));
  }
  if (const std::int64_t parts = checked_product(plan.cp, plan.tp);
      plan.sequence_parallel && plan.sequence % parts != 0) {
    found.push_back(fmt::format("sequence {} does not divide over cp {} x tp {} for sequence_parallel; {} would do",
                                plan.sequence, plan.cp, plan.tp, nearest_multiples(plan.sequence, parts)));
  }
}

void check_batch(const Plan& plan, Problems& found) {
  const std::int64_t step = checked_product(plan.dp, plan.microbatch);
  if (plan.global_batch % step != 0) {
    found.push_back(fmt::format("global batch {} is not a multiple of {} (dp {} x microbatch {}); {} would do",
                                plan.global_batch, step, plan.dp, plan.microbatch,
                                nearest_multiples(plan.global_batch, step)));
  }
}

void check_stages(const Plan& plan, const TransformerModel& model, Problems& found) {
  const std::int64_t stages = checked_product(plan.pp, plan.virtual_stages);
  if (stages > model.layers + 2) {
    found.push_back(fmt::format("{} stages (pp {} x virtual_stages {}) for {} layers; pp {} or less would do", stages,
                                plan.pp, plan.virtual_stages, model.layers,
                                std::max<std::int64_t>(1, model.layers / plan.virtual_stages)));
    return;
  }
  const std::vector<std::int64_t>& layers = plan.stage_layers;
  const auto even = even_stages(model.layers, stages);
  if (static_cast<std::int64_t>(layers.size()) != stages) {
    found.push_back(fmt::format("stage_layers has {} entries for {} stages (pp {} x virtual_stages {}); {} would do",
                                layers.size(), stages, plan.pp, plan.virtual_stages, fmt::join(even, ", ")));
    return;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    // The ends hold the embedding and the head, so they may go without layers.
    const std::int64_t least = i == 0 || i + 1 == layers.size() ? 0 : 1;
    if (layers[i] < least || layers[i] > model.layers) {
      found.push_back(fmt::format("stage {} has {} layers, expected {} to {}", i, layers[i], least, model.layers));
      return;
    }
  }
  const std::int64_t sum = std::accumulate(layers.begin(), layers.end(), std::int64_t{0});
  if (sum != model.layers) {
    found.push_back(fmt::format("stage_layers {} add up to {} of the model's {} layers; {} would do",
                                fmt::join(layers, " + "), sum, model.layers, fmt::join(even, ", ")));
  }
}

void check_schedule(const Plan& plan, Problems& found) {
  if (plan.schedule != PipelineSchedule::interleaved) {
    if (plan.virtual_stages > 1) {
      found.push_back(fmt::format("virtual_stages {} needs schedule interleaved, not {}", plan.virtual_stages,
                                  name_of(plan.schedule)));
    }
    return;
  }
  if (plan.virtual_stages < 2) found.emplace_back("schedule interleaved needs virtual_stages of 2 or more");
  if (plan.pp < 2) found.emplace_back("schedule interleaved needs pp of 2 or more");
  if (const std::int64_t step = checked_product(plan.dp, plan.microbatch); plan.global_batch % step == 0) {
    if (const std::int64_t microbatches = plan.global_batch / step; microbatches % plan.pp != 0) {
      found.push_back(fmt::format("schedule interleaved needs microbatches in multiples of pp {}, not {}; {} would do",
                                  plan.pp, microbatches, nearest_multiples(microbatches, plan.pp)));
    }
  }
}

void check_experts(const Plan& plan, const TransformerModel& model, Problems& found) {
  if (plan.ep == 1) return;
  if (model.experts == 0) {
    found.push_back(fmt::format("ep {} for a model without experts", plan.ep));
    return;
  }
  if (model.experts % plan.ep != 0) {
    found.push_back(fmt::format("{} experts do not divide over ep {}; ep {} would do", model.experts, plan.ep,
                                nearest_divisors(model.experts, plan.ep)));
  }
  if (plan.dp % plan.ep != 0) {
    found.push_back(fmt::format("expert groups of ep {} do not divide dp {}; dp {} would do", plan.ep, plan.dp,
                                nearest_multiples(plan.dp, plan.ep)));
  }
}

std::vector<std::string> all_problems(const Plan& given, const TransformerModel& model, std::int64_t devices) {
  Problems found = problems(model);
  const Problems degrees = degree_problems(given);
  found.insert(found.end(), degrees.begin(), degrees.end());
  if (!found.empty()) return found;
  const bool even = given.stage_layers.empty();
  // Too many stages are reported below; even stages of them are not needed for that.
  Plan plan = given;
  if (checked_product(given.pp, given.virtual_stages) <= model.layers + 2) plan = resolved(given, model);
  if (even && std::any_of(plan.stage_layers.begin(), plan.stage_layers.end(), [](auto n) { return n == 0; })) {
    found.push_back(fmt::format("{} stages for {} layers leave a stage without one; say stage_layers if that is meant",
                                plan.stage_layers.size(), model.layers));
  }
  if (plan.sequence == 0) plan.sequence = model.max_positions;
  check_devices(plan, devices, found);
  check_tensor(plan, model, found);
  check_sequence(plan, model, found);
  check_batch(plan, found);
  check_stages(plan, model, found);
  check_schedule(plan, found);
  check_experts(plan, model, found);
  return found;
}

}  // namespace

std::vector<std::string> problems(const Plan& plan, const TransformerModel& model, std::int64_t devices) {
  try {
    return all_problems(plan, model, devices);
  } catch (const std::overflow_error& error) {
    return {fmt::format("the plan's numbers are too large: {}", error.what())};
  }
}

}  // namespace tandem
