// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/isolated_collective.h"

#include <algorithm>
#include <stdexcept>

#include "sim/cluster/collective_engine.h"
#include "sim/kernel/context.h"

namespace tandem {
namespace {

/// All members of the group, which do nothing but wait for the end.
class LastToFinish : public CollectiveClient {
 public:
  void collective_done(const CollectiveOutcome& outcome) override {
    ++done_;
    time_ = {simulated_now(), std::max(time_.software, outcome.software)};
  }
  [[nodiscard]] std::size_t done() const { return done_; }
  [[nodiscard]] CollectiveTime time() const { return time_; }

 private:
  std::size_t done_ = 0;
  CollectiveTime time_;
};

std::vector<std::pair<std::int64_t, std::int64_t>> device_pairs(const CollectivePlan& plan,
                                                                const std::vector<std::int64_t>& devices) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const auto& [from, to] : plan.pairs()) {
    pairs.emplace_back(devices[static_cast<std::size_t>(from)], devices[static_cast<std::size_t>(to)]);
  }
  return pairs;
}

}  // namespace

CollectiveTime play_alone(const Cluster& cluster, const Topology& topology, const CommunicationGroup& group,
                          const Collective& collective, const NetworkSpec& network_spec) {
  CollectivePlans plans(cluster, {group});
  if (plans.get(0, collective).sends.empty()) return {};
  Wiring wiring(cluster, topology, device_pairs(plans.get(0, collective), group.devices));
  LastToFinish client;
  const SimulationContext context;
  Network network("network", wiring, network_spec);
  CollectiveEngine engine("collectives", cluster.overhead, network, plans);
  for (std::size_t member = 0; member < group.devices.size(); ++member) {
    engine.join(0, static_cast<std::int32_t>(member), collective, client, 0);
  }
  sc_core::sc_start();
  if (client.done() != group.devices.size()) throw std::logic_error("a collective alone on its links did not end");
  return client.time();
}

CollectiveTime IsolatedCollectives::time(CollectivePlans& plans, std::int32_t group, const Collective& collective) {
  const CommunicationGroup& members = plans.groups().at(static_cast<std::size_t>(group));
  const CollectivePlan& plan = plans.get(group, collective);
  std::vector<Case>& same_links = cases_[signature(plan, members.devices)];
  for (const Case& known : same_links) {
    if (known.plan == plan) return known.time;
  }
  ++played_;
  same_links.push_back({plan, play_alone(cluster_, topology_, members, collective, network_)});
  return same_links.back().time;
}

std::vector<double> IsolatedCollectives::signature(const CollectivePlan& plan,
                                                   const std::vector<std::int64_t>& devices) const {
  std::vector<double> signature;
  std::map<LinkId, std::size_t> renumbered;
  for (const auto& [from, to] : device_pairs(plan, devices)) {
    signature.push_back(-1);
    for (const LinkId link : topology_.route(from, to)) {
      const auto [entry, fresh] = renumbered.try_emplace(link, renumbered.size());
      signature.push_back(static_cast<double>(entry->second));
      if (!fresh) continue;
      const LinkSpec& spec = topology_.links()[static_cast<std::size_t>(link)];
      signature.insert(signature.end(), {spec.bandwidth.value(), spec.message_bandwidth.value(), spec.latency.count()});
    }
  }
  return signature;
}

}  // namespace tandem
