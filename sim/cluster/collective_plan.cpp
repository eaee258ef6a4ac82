// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/collective_plan.h"

#include <algorithm>
#include <stdexcept>

namespace tandem {

std::vector<std::pair<std::int32_t, std::int32_t>> CollectivePlan::pairs() const {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const PlannedSend& send : sends) pairs.emplace_back(send.from, send.to);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

CollectivePlan plan_collective(const CollectiveSteps& steps, std::int64_t members) {
  CollectivePlan plan;
  plan.members = members;
  plan.steps = static_cast<std::int64_t>(steps.size());
  plan.receives.assign(static_cast<std::size_t>(members * plan.steps), 0);
  plan.first_send.assign(plan.receives.size() + 1, 0);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (const Send& send : steps[step]) {
      if (send.from < 0 || send.to < 0 || send.from >= members || send.to >= members || send.bytes < Bytes(0)) {
        throw std::logic_error("a collective step sends outside its group");
      }
      ++plan.receives[plan.slot(send.to, static_cast<std::int64_t>(step))];
      ++plan.first_send[plan.slot(send.from, static_cast<std::int64_t>(step)) + 1];
      plan.sends.push_back({send.from, send.to, static_cast<std::int32_t>(step), send.bytes});
    }
  }
  for (std::size_t slot = 1; slot < plan.first_send.size(); ++slot) plan.first_send[slot] += plan.first_send[slot - 1];
  std::stable_sort(plan.sends.begin(), plan.sends.end(),
                   [](const auto& a, const auto& b) { return a.from != b.from ? a.from < b.from : a.step < b.step; });
  return plan;
}

const CollectivePlan& CollectivePlans::get(std::int32_t group, const Collective& collective) {
  const std::array<std::int64_t, 4> key{group, static_cast<std::int64_t>(collective.kind),
                                        static_cast<std::int64_t>(collective.algorithm), collective.bytes.value()};
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  const std::vector<std::int64_t>& devices = groups_.at(static_cast<std::size_t>(group)).devices;
  return plans_
      .emplace(key, plan_collective(collective_steps(collective, cluster_, devices),
                                    static_cast<std::int64_t>(devices.size())))
      .first->second;
}

}  // namespace tandem
