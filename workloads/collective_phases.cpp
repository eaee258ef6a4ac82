// SPDX-License-Identifier: Apache-2.0
#include "workloads/collective_phases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "workloads/collective_parts.h"

namespace tandem {
namespace {

using namespace collective_parts;

// --- direct ---

Phases direct(const Members& members, const Extent& whole, const Passes& passes) {
  const std::int64_t n = size_of_group(members);
  Phases phases;
  std::vector<Send> scatter;
  std::vector<Send> gather;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const auto from = members[static_cast<std::size_t>(i)];
      const auto to = members[static_cast<std::size_t>(j)];
      scatter.push_back(send(from, to, part(whole, j, n), true));
      gather.push_back(send(from, to, part(whole, i, n), false));
    }
  }
  if (passes.reduces) phases.push_back(step(std::move(scatter)));
  if (passes.gathers) phases.push_back(step(std::move(gather)));
  return phases;
}

Phases all_to_all(const Members& members, const Extent& whole, bool at_once) {
  const std::int64_t n = size_of_group(members);
  Phases phases;
  std::vector<Send> all;
  for (std::int64_t shift = 1; shift < n; ++shift) {
    std::vector<Send> sends;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t j = (i + shift) % n;
      sends.push_back(
          send(members[static_cast<std::size_t>(i)], members[static_cast<std::size_t>(j)], part(whole, j, n), false));
    }
    if (at_once) {
      all.insert(all.end(), sends.begin(), sends.end());
    } else {
      phases.push_back(step(std::move(sends)));
    }
  }
  if (at_once) phases.push_back(step(std::move(all)));
  return phases;
}

// --- tree ---

struct Tree {
  std::vector<std::int64_t> parent, level;
  std::int64_t depth = 0;
};

/// The first of a range is its root, its children are the roots of the two halves of the rest: neighbours stay near.
void grow(Tree& tree, std::int64_t first, std::int64_t end, std::int64_t parent, std::int64_t level) {
  if (first >= end) return;
  tree.parent[static_cast<std::size_t>(first)] = parent;
  tree.level[static_cast<std::size_t>(first)] = level;
  tree.depth = std::max(tree.depth, level);
  const std::int64_t middle = first + 1 + (end - first) / 2;
  grow(tree, first + 1, middle, first, level + 1);
  grow(tree, middle, end, first, level + 1);
}

Tree binary_tree(std::int64_t n) {
  Tree tree;
  tree.parent.resize(static_cast<std::size_t>(n));
  tree.level.resize(static_cast<std::size_t>(n));
  grow(tree, 0, n, -1, 0);
  return tree;
}

Phases tree_phases(const Members& members, const Extent& whole, const Tree& tree, std::int64_t pieces, bool reduces) {
  const std::int64_t depth = tree.depth;
  const std::int64_t turn = reduces ? depth : 0;  // first step in which the root sends down
  Phases phases;
  for (std::int64_t at = 0; at < pieces + turn + depth - 1; ++at) {
    std::vector<Send> sends;
    for (std::size_t i = 1; i < members.size(); ++i) {
      const auto parent = static_cast<std::size_t>(tree.parent[i]);
      const std::int64_t up = at - (depth - tree.level[i]);
      if (reduces && up >= 0 && up < pieces) {
        sends.push_back(send(members[i], members[parent], part(whole, up, pieces), true));
      }
      const std::int64_t down = at - turn - tree.level[parent];
      if (down >= 0 && down < pieces) {
        sends.push_back(send(members[parent], members[i], part(whole, down, pieces), false));
      }
    }
    phases.push_back(step(std::move(sends)));
  }
  return phases;
}

// --- halving and doubling ---

/// Recursive halving over bits from `first_bit` on, then doubling back. `members` is a power of two.
Phases halving_doubling(const Members& members, const Extent& whole, const Passes& passes, bool near_first) {
  const std::int64_t n = size_of_group(members);
  const int bits = std::countr_zero(static_cast<std::uint64_t>(n));
  std::vector<Extent> held(members.size(), whole);
  Phases halving;
  Phases doubling;
  for (int round = 0; round < bits; ++round) {
    const std::int64_t bit = std::int64_t{1} << (near_first ? round : bits - 1 - round);
    std::vector<Send> give;
    std::vector<Send> share;
    std::vector<Extent> kept(held.size());
    for (std::int64_t i = 0; i < n; ++i) {
      const auto own = static_cast<std::size_t>(i);
      const auto partner = members[static_cast<std::size_t>(i ^ bit)];
      const std::int64_t half = (i & bit) != 0 ? 1 : 0;
      kept[own] = part(held[own], half, 2);
      give.push_back(send(members[own], partner, part(held[own], 1 - half, 2), true));
      share.push_back(send(members[own], partner, kept[own], false));
    }
    held = std::move(kept);
    halving.push_back(step(std::move(give)));
    doubling.insert(doubling.begin(), step(std::move(share)));
  }
  Phases phases;
  if (passes.reduces) phases.insert(phases.end(), halving.begin(), halving.end());
  if (passes.gathers) phases.insert(phases.end(), doubling.begin(), doubling.end());
  return phases;
}

/// Any number of ranks: those beyond a power of two hand their data to a neighbour and get the result back.
Phases rabenseifner(const Members& members, const Extent& whole) {
  const std::int64_t n = size_of_group(members);
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
  Members active;
  std::vector<Send> before;
  std::vector<Send> after;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto own = members[static_cast<std::size_t>(i)];
    if (i < 2 * (n - power) && i % 2 == 0) {
      const auto neighbour = members[static_cast<std::size_t>(i + 1)];
      before.push_back(send(own, neighbour, whole, true));
      after.push_back(send(neighbour, own, whole, false));
    } else {
      active.push_back(own);
    }
  }
  Phases phases = halving_doubling(active, whole, {true, true}, true);
  if (!before.empty()) {
    phases.insert(phases.begin(), step(std::move(before)));
    phases.push_back(step(std::move(after)));
  }
  return phases;
}

// --- choice by kind ---

/// Latency and bandwidth of the outermost level that the group spans.
struct Reach {
  Seconds latency{};
  Bandwidth bandwidth{};
};
Reach reach(const Cluster& cluster, std::span<const std::int64_t> ranks) {
  std::size_t outermost = 0;
  for (const std::int64_t rank : ranks) {
    if (rank != ranks.front()) outermost = std::max(outermost, cluster.meeting_level(ranks.front(), rank));
  }
  const Level& level = cluster.levels[outermost];
  return {cluster.overhead.step + level.link_latency, level.message_bandwidth()};
}

Phases tree(const Members& members, const Extent& whole, const Cluster& cluster, std::span<const std::int64_t> ranks,
            bool reduces) {
  const Tree shape = binary_tree(size_of_group(members));
  const Reach far = reach(cluster, ranks);
  // Two children share their parent's link.
  const std::int64_t pieces =
      pipeline_pieces(Bytes(whole.length), (reduces ? 2 : 1) * shape.depth, far.latency, far.bandwidth / 2);
  return tree_phases(members, whole, shape, pieces, reduces);
}

Phases chain(const Members& members, const Extent& whole, const Cluster& cluster, std::span<const std::int64_t> ranks) {
  Tree line;
  line.depth = size_of_group(members) - 1;
  for (std::int64_t i = 0; i <= line.depth; ++i) {
    line.parent.push_back(i - 1);
    line.level.push_back(i);
  }
  const Reach far = reach(cluster, ranks);
  const std::int64_t pieces = pipeline_pieces(Bytes(whole.length), line.depth, far.latency, far.bandwidth);
  return tree_phases(members, whole, line, pieces, false);
}

Phases send_to_next(const Members& members, const Extent& whole) {
  std::vector<Send> sends;
  for (std::size_t i = 0; i < members.size(); ++i) {
    sends.push_back(send(members[i], members[(i + 1) % members.size()], whole, false));
  }
  return {step(std::move(sends))};
}

Phases broadcast(CollectiveAlgorithm algorithm, const Members& members, const Extent& whole, const Cluster& cluster,
                 std::span<const std::int64_t> ranks) {
  switch (algorithm) {
    case CollectiveAlgorithm::ring:
    case CollectiveAlgorithm::bidirectional_ring: return chain(members, whole, cluster, ranks);
    case CollectiveAlgorithm::direct: {
      std::vector<Send> sends;
      for (std::size_t i = 1; i < members.size(); ++i) sends.push_back(send(members[0], members[i], whole, false));
      return {step(std::move(sends))};
    }
    default: return tree(members, whole, cluster, ranks, false);
  }
}

Phases reduction(const Collective& collective, const Members& members, const Extent& whole, const Cluster& cluster,
                 std::span<const std::int64_t> ranks) {
  const Passes passes = passes_of(collective.kind);
  const bool power_of_two = std::has_single_bit(members.size());
  switch (collective.algorithm) {
    case CollectiveAlgorithm::bidirectional_ring: return {ring_phase(opposed_rings(members, whole), passes)};
    case CollectiveAlgorithm::tree:
      if (collective.kind == CollectiveKind::all_reduce) return tree(members, whole, cluster, ranks, true);
      break;
    case CollectiveAlgorithm::halving_doubling:
      if (collective.kind == CollectiveKind::all_reduce) return rabenseifner(members, whole);
      if (power_of_two) return halving_doubling(members, whole, passes, false);
      break;
    case CollectiveAlgorithm::direct: return direct(members, whole, passes);
    case CollectiveAlgorithm::hierarchical: {
      auto by_level = hierarchical_phases(members, whole, cluster, ranks, passes);
      if (!by_level.empty()) return by_level;
      break;
    }
    case CollectiveAlgorithm::ring: break;
    case CollectiveAlgorithm::automatic: throw std::invalid_argument("collective algorithm is not chosen yet");
  }
  return {ring_phase({ring_of(members, whole)}, passes)};
}

}  // namespace

std::vector<Send> ring_sends(const CollectivePhase& phase, const Ring& ring, std::int64_t step) {
  const auto n = static_cast<std::int64_t>(ring.order.size());
  const bool reducing = phase.reduces && step < n - 1;
  const std::int64_t turn = phase.reduces && !reducing ? step - (n - 1) : step;
  std::vector<Send> sends;
  sends.reserve(ring.order.size());
  for (std::int64_t i = 0; i < n; ++i) {
    // Reducing ends, gathering begins, with everybody's own part.
    const std::int64_t owner = (i - turn - (reducing ? 1 : 0) + 2 * n) % n;
    sends.push_back(send(ring.order[static_cast<std::size_t>(i)], ring.order[static_cast<std::size_t>((i + 1) % n)],
                         ring.parts[static_cast<std::size_t>(owner)], reducing));
  }
  return sends;
}

std::int64_t step_count(const CollectivePhase& phase) {
  if (phase.rings.empty()) return 1;
  const auto n = static_cast<std::int64_t>(phase.rings.front().order.size());
  return (n - 1) * ((phase.reduces ? 1 : 0) + (phase.gathers ? 1 : 0));
}

std::int64_t pipeline_pieces(Bytes bytes, std::int64_t depth, Seconds latency, Bandwidth bandwidth) {
  if (depth <= 1 || bytes.value() <= 1) return 1;
  constexpr double kMost = 64;
  const double transfer = (bytes / bandwidth).count();
  if (latency.count() <= 0) return std::min<std::int64_t>(static_cast<std::int64_t>(kMost), bytes.value());
  const double best = std::sqrt(static_cast<double>(depth - 1) * transfer / latency.count());
  return std::min(static_cast<std::int64_t>(std::clamp(std::round(best), 1.0, kMost)), bytes.value());
}

std::int64_t channels(const Level& level, CollectiveKind kind, Bytes bytes) {
  if (kind == CollectiveKind::send_recv) return 1;
  // Below 4 KiB each, more messages are no faster.
  constexpr std::int64_t kLeast = 4096;
  const std::int64_t reach_all = ceil_div(level.links, std::min(level.links_per_message, level.links));
  return std::clamp<std::int64_t>(bytes.value() / kLeast, 1, reach_all);
}

std::vector<CollectivePhase> collective_phases(const Collective& collective, const Cluster& cluster,
                                               std::span<const std::int64_t> ranks) {
  if (collective.bytes < Bytes(0)) {
    throw std::invalid_argument("collective of " + std::to_string(collective.bytes.value()) + " bytes");
  }
  if (ranks.size() <= 1) return {};
  Members members(ranks.size());
  std::iota(members.begin(), members.end(), 0);
  const Extent whole{0, collective.bytes.value()};
  switch (collective.kind) {
    case CollectiveKind::send_recv: return send_to_next(members, whole);
    case CollectiveKind::all_to_all:
      return all_to_all(members, whole,
                        collective.algorithm == CollectiveAlgorithm::direct ||
                            collective.algorithm == CollectiveAlgorithm::hierarchical);
    case CollectiveKind::broadcast: return broadcast(collective.algorithm, members, whole, cluster, ranks);
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather: break;
  }
  return reduction(collective, members, whole, cluster, ranks);
}

}  // namespace tandem
