// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "arch/cluster.h"
#include "arch/topology.h"
#include "sim/cluster/collective_plan.h"
#include "sim/network/network.h"

namespace tandem {

/// Plays the collective step by step in a simulation of its own, so no SimulationContext may be alive.
CollectiveTime play_alone(const Cluster& cluster, const Topology& topology, const CommunicationGroup& group,
                          const Collective& collective, const NetworkSpec& network);

/// Plays each distinct case once: groups whose members take the same steps over links of the same kind, shared in the
/// same way, need the same time.
class IsolatedCollectives {
 public:
  IsolatedCollectives(const Cluster& cluster, const NetworkSpec& network)
      : cluster_(cluster), topology_(cluster), network_(network) {}

  CollectiveTime time(CollectivePlans& plans, std::int32_t group, const Collective& collective);
  [[nodiscard]] std::int64_t played() const { return played_; }

 private:
  struct Case {
    CollectivePlan plan;
    CollectiveTime time;
  };
  [[nodiscard]] std::vector<double> signature(const CollectivePlan& plan,
                                              const std::vector<std::int64_t>& devices) const;

  Cluster cluster_;
  Topology topology_;
  NetworkSpec network_;
  std::map<std::vector<double>, std::vector<Case>> cases_;
  std::int64_t played_ = 0;
};

}  // namespace tandem
