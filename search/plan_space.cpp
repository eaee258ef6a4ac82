// SPDX-License-Identifier: Apache-2.0
#include "search/plan_space.h"

#include <algorithm>

namespace tandem {
namespace {

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d != n / d) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// The divisors of n that `wanted` lists, in its order; all of them if it lists none.
std::vector<std::int64_t> choices(std::int64_t n, const std::vector<std::int64_t>& wanted) {
  if (wanted.empty()) return divisors(n);
  std::vector<std::int64_t> fitting;
  for (const std::int64_t d : wanted) {
    if (n % d == 0 && std::find(fitting.begin(), fitting.end(), d) == fitting.end()) fitting.push_back(d);
  }
  return fitting;
}

bool allows(const std::vector<std::int64_t>& wanted, std::int64_t value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

/// Schedule with chunks per device.
struct Pipelining {
  PipelineSchedule schedule;
  std::int64_t virtual_stages;
};

std::vector<Pipelining> pipelinings(const PlanSpace& space, const Plan& plan, std::int64_t layers) {
  // One stage has no order to choose: every schedule is the same there.
  if (plan.pp == 1) return {{PipelineSchedule::one_f_one_b, 1}};
  std::vector<Pipelining> found;
  for (const PipelineSchedule schedule : space.schedule) {
    if (schedule != PipelineSchedule::interleaved) {
      found.push_back({schedule, 1});
      continue;
    }
    if (plan.microbatches() % plan.pp != 0) continue;
    for (const std::int64_t chunks : space.virtual_stages) {
      if (chunks * plan.pp <= layers) found.push_back({schedule, chunks});
    }
  }
  return found;
}

/// `plan` with every choice that does not change its degrees and microbatch.
void add_variants(const PlanSpace& space, Plan plan, std::int64_t layers, std::vector<Plan>& plans) {
  for (const bool sequence_parallel : plan.tp == 1 ? std::vector<bool>{false} : space.sequence_parallel) {
    for (const Attention attention : space.attention) {
      for (const Recompute recompute : space.recompute) {
        for (const std::int64_t zero : plan.dp == 1 ? std::vector<std::int64_t>{0} : space.zero_stage) {
          for (const bool overlap : plan.dp == 1 ? std::vector<bool>{false} : space.overlap_gradients) {
            for (const Pipelining& pipelining : pipelinings(space, plan, layers)) {
              plan.sequence_parallel = sequence_parallel;
              plan.attention = attention;
              plan.recompute = recompute;
              plan.zero_stage = zero;
              plan.overlap_gradients = overlap;
              plan.schedule = pipelining.schedule;
              plan.virtual_stages = pipelining.virtual_stages;
              plans.push_back(plan);
            }
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<Plan> enumerate_plans(const PlanSpace& space, const TransformerModel& model) {
  Plan plan;
  plan.global_batch = space.global_batch;
  plan.sequence = space.sequence;
  plan.dtype = space.dtype;
  plan.optimizer = space.optimizer;
  plan.fp32_gradients = space.fp32_gradients;
  std::vector<Plan> plans;
  for (const std::int64_t tp : choices(space.devices, space.tp)) {
    for (const std::int64_t pp : choices(space.devices / tp, space.pp)) {
      const std::int64_t dp = space.devices / (tp * pp);
      if (pp > model.layers || !allows(space.dp, dp) || space.global_batch % dp != 0) continue;
      plan.tp = tp;
      plan.pp = pp;
      plan.dp = dp;
      for (const std::int64_t microbatch : choices(space.global_batch / dp, space.microbatch)) {
        plan.microbatch = microbatch;
        add_variants(space, plan, model.layers, plans);
      }
    }
  }
  return plans;
}

}  // namespace tandem
