// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "arch/support/error.h"
#include "sim/cluster/isolated_collective.h"
#include "sim/simulate.h"

namespace tandem {

Picoseconds simulate_collective(const Cluster& cluster, std::span<const std::int64_t> ranks,
                                const Collective& collective, const SimulationOptions& options) {
  if (ranks.empty()) throw ConfigError("a collective needs at least one device");
  if (std::set<std::int64_t>(ranks.begin(), ranks.end()).size() != ranks.size()) {
    throw ConfigError("a device stands twice in the group of a collective");
  }
  for (const std::int64_t rank : ranks) {
    if (rank >= 0 && rank < cluster.devices()) continue;
    throw ConfigError(fmt::format("device {} of a collective is not in cluster {} (0 to {})", rank, cluster.name,
                                  cluster.devices() - 1));
  }
  NetworkSpec network;
  if (options.ideal.links) network.links = LinkModel::ideal;
  const CommunicationGroup group{"the group", {ranks.begin(), ranks.end()}};
  return play_alone(cluster, Topology(cluster), group, collective, network).time;
}

}  // namespace tandem
