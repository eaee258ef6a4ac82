// SPDX-License-Identifier: Apache-2.0
// Measured collectives.
#include <fmt/format.h>

#include <cmath>

#include "sim/simulate.h"
#include "tools/against/machines.h"
#include "workloads/collectives.h"

namespace tandem {
namespace {

/// Devices that take part: `per_node` of each inner group if it holds as many, else one after another.
std::vector<std::int64_t> ranks_of(std::int64_t ranks, std::int64_t per_node, std::int64_t group) {
  const std::int64_t in_group = std::min(per_node, group);
  std::vector<std::int64_t> devices;
  for (std::int64_t rank = 0; rank < ranks; ++rank) devices.push_back(rank / in_group * group + rank % in_group);
  return devices;
}

/// Chips in one innermost group of the machine (a node).
std::int64_t group_size(const Cluster& cluster) { return cluster.levels.empty() ? 1 : cluster.devices_below(1); }

RowAnswer evaluate(const CsvRow& row, const MachineOverride& machine, const SimulationOptions* options) {
  const std::int64_t ranks = row.integer("ranks");
  if (ranks < 2) throw RowFailure("a collective of fewer than two ranks", "");
  const std::int64_t per_node = row.maybe_integer("ranks_per_node").value_or(ranks);
  if (per_node < 1) throw RowFailure("the row does not describe a sound case", "ranks_per_node is not positive");
  const std::string name = row.text("collective");
  const auto kind = enum_from_name<CollectiveKind>(name);
  if (!kind) throw RowFailure("unknown collective", name);

  const Cluster any = cluster_of_row(row.text("accelerator"), row.text("system"), machine);
  const std::int64_t group = group_size(any);
  const std::vector<std::int64_t> devices = ranks_of(ranks, per_node, group);
  const std::int64_t needed = ceil_div(devices.back() + 1, group) * group;
  const Cluster cluster = any.levels.empty() || any.devices() == needed ? any : any.resized(needed);

  const Collective collective{*kind, Bytes(row.integer("message_bytes")), CollectiveAlgorithm::automatic};
  constexpr double kMicrosecond = 1e-6;
  const double reference = row.number("time_us") * kMicrosecond;
  const double predicted = collective_time(collective, cluster, devices).count();
  const double simulated =
      options == nullptr ? NAN : to_seconds(simulate_collective(cluster, devices, collective, *options)).count();
  const auto bytes = static_cast<double>(collective.bytes.value());
  return {cluster.name,
          {{"time_s", predicted, simulated, reference},
           {"bandwidth_bytes_per_s", bytes / predicted, bytes / simulated, bytes / reference}},
          {}};
}

}  // namespace

ReferenceKind collectives_kind() {
  return {
      "collectives", {"system", "ranks", "collective", "message_bytes", "time_us"}, {"collective", "system"}, evaluate};
}

}  // namespace tandem
