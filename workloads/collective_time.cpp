// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "workloads/collective_phases.h"
#include "workloads/collectives.h"
#include "workloads/link_loads.h"

namespace tandem {
namespace {

using Groups = std::span<const std::vector<std::int64_t>>;

void add_sends(LinkLoads& loads, const std::vector<Send>& sends, const Cluster& cluster,
               std::span<const std::int64_t> ranks, CollectiveKind kind) {
  for (const Send& send : sends) {
    const std::int64_t from = ranks[static_cast<std::size_t>(send.from)];
    const std::int64_t to = ranks[static_cast<std::size_t>(send.to)];
    const Level& level = cluster.levels[cluster.meeting_level(from, to)];
    loads.add(from, to, send.bytes, channels(level, kind, send.bytes));
  }
}

/// The busiest run of `count` consecutive messages round the ring.
double longest_chain(const std::vector<double>& edges, std::int64_t count) {
  const auto n = static_cast<std::int64_t>(edges.size());
  double round = 0;
  for (const double edge : edges) round += edge;
  const std::int64_t rest = count % n;
  double window = 0;
  for (std::int64_t i = 0; i < rest; ++i) window += edges[static_cast<std::size_t>(i)];
  double worst = window;
  for (std::int64_t i = 0; i < n; ++i) {
    window += edges[static_cast<std::size_t>((i + rest) % n)] - edges[static_cast<std::size_t>(i)];
    worst = std::max(worst, window);
  }
  return static_cast<double>(count / n) * round + worst;
}

/// A ring's messages are messages [first, first + n) of the loads. A piece goes from rank to rank, each waiting for the
/// one before; a link serves one step after another.
Seconds ring_time(const LinkLoads& loads, std::size_t first, std::size_t n, std::int64_t steps, Seconds overhead) {
  std::vector<double> edges(n);
  double busiest = 0;
  double longest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double occupancy = loads.occupancy(first + i).count();
    edges[i] = overhead.count() + loads.latency(first + i).count() + occupancy;
    busiest = std::max(busiest, occupancy);
    longest = std::max(longest, edges[i]);
  }
  return Seconds(std::max(longest_chain(edges, steps), static_cast<double>(steps - 1) * busiest + longest));
}

Seconds phase_time(const std::vector<const CollectivePhase*>& phases, const Cluster& cluster, Groups groups,
                   CollectiveKind kind) {
  LinkLoads loads(cluster);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const CollectivePhase& phase = *phases[group];
    for (const Ring& ring : phase.rings) add_sends(loads, ring_sends(phase, ring, 0), cluster, groups[group], kind);
    add_sends(loads, phase.sends, cluster, groups[group], kind);
  }
  loads.settle();
  const Seconds overhead = cluster.overhead.step;
  Seconds worst{};
  std::size_t first = 0;
  for (const CollectivePhase* phase : phases) {
    for (const Ring& ring : phase->rings) {
      worst = std::max(worst, ring_time(loads, first, ring.order.size(), step_count(*phase), overhead));
      first += ring.order.size();
    }
    for (std::size_t i = 0; i < phase->sends.size(); ++i, ++first) {
      worst = std::max(worst, overhead + loads.latency(first) + loads.occupancy(first));
    }
  }
  return worst;
}

std::vector<CollectiveAlgorithm> candidates(CollectiveKind kind, std::size_t ranks) {
  using enum CollectiveAlgorithm;
  std::vector<CollectiveAlgorithm> all;
  switch (kind) {
    case CollectiveKind::all_to_all:
    case CollectiveKind::send_recv: return {direct};
    case CollectiveKind::broadcast: all = {ring, tree}; break;
    case CollectiveKind::all_reduce: all = {ring, bidirectional_ring, tree, halving_doubling, hierarchical}; break;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather: all = {ring, bidirectional_ring, halving_doubling, hierarchical}; break;
  }
  constexpr std::size_t kMostQueues = 16;
  if (ranks <= kMostQueues) all.push_back(direct);
  return all;
}

}  // namespace

CollectiveAlgorithm choose_algorithm(const Collective& collective, const Cluster& cluster,
                                     std::span<const std::int64_t> ranks) {
  if (collective.algorithm != CollectiveAlgorithm::automatic) return collective.algorithm;
  Collective candidate = collective;
  CollectiveAlgorithm best = CollectiveAlgorithm::ring;
  Seconds least = Seconds::max();
  for (const CollectiveAlgorithm algorithm : candidates(collective.kind, ranks.size())) {
    candidate.algorithm = algorithm;
    const Seconds time = collective_time(candidate, cluster, ranks);
    if (time < least) {
      least = time;
      best = algorithm;
    }
  }
  return best;
}

Seconds collective_time(const Collective& collective, const Cluster& cluster, Groups groups) {
  if (groups.empty() || groups.front().size() <= 1) return Seconds(0);
  Collective chosen = collective;
  chosen.algorithm = choose_algorithm(collective, cluster, groups.front());
  std::vector<std::vector<CollectivePhase>> phases;
  std::vector<std::vector<std::int64_t>> alike;
  for (const auto& group : groups) {
    auto own = collective_phases(chosen, cluster, group);
    // A group that lies differently on the levels takes other steps: it is not one of those that meet on the links.
    if (!phases.empty() && own.size() != phases.front().size()) continue;
    phases.push_back(std::move(own));
    alike.push_back(group);
  }
  Seconds time = cluster.overhead.collective;
  for (std::size_t phase = 0; phase < phases.front().size(); ++phase) {
    std::vector<const CollectivePhase*> at_once;
    for (const auto& of_group : phases) at_once.push_back(&of_group[phase]);
    time += phase_time(at_once, cluster, alike, chosen.kind);
  }
  return time;
}

Seconds collective_time(const Collective& collective, const Cluster& cluster, std::span<const std::int64_t> ranks) {
  const std::vector<std::vector<std::int64_t>> alone{{ranks.begin(), ranks.end()}};
  return collective_time(collective, cluster, Groups(alone));
}

Seconds send_time(Bytes bytes, const Cluster& cluster, std::span<const std::pair<std::int64_t, std::int64_t>> pairs) {
  if (pairs.empty() || pairs.front().first == pairs.front().second) return Seconds(0);
  LinkLoads loads(cluster);
  for (const auto& [from, to] : pairs) loads.add(from, to, bytes, 1);
  loads.settle();
  return cluster.overhead.send + loads.latency(0) + loads.occupancy(0);
}

Seconds send_time(Bytes bytes, const Cluster& cluster, std::int64_t from, std::int64_t to) {
  const std::array<std::pair<std::int64_t, std::int64_t>, 1> alone{{{from, to}}};
  return send_time(bytes, cluster, alone);
}

}  // namespace tandem
