// SPDX-License-Identifier: Apache-2.0
// Collectives as lists of steps, and their closed forms.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/cluster.h"
#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"

namespace tandem {

enum class CollectiveKind { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, send_recv };
enum class CollectiveAlgorithm { automatic, ring, bidirectional_ring, tree, halving_doubling, direct, hierarchical };

template <>
struct EnumNames<CollectiveKind> {
  static constexpr auto values =
      std::to_array<std::pair<CollectiveKind, std::string_view>>({{CollectiveKind::all_reduce, "all_reduce"},
                                                                  {CollectiveKind::reduce_scatter, "reduce_scatter"},
                                                                  {CollectiveKind::all_gather, "all_gather"},
                                                                  {CollectiveKind::all_to_all, "all_to_all"},
                                                                  {CollectiveKind::all_to_all, "alltoall"},
                                                                  {CollectiveKind::broadcast, "broadcast"},
                                                                  {CollectiveKind::send_recv, "send_recv"}});
};
template <>
struct EnumNames<CollectiveAlgorithm> {
  static constexpr auto values = std::to_array<std::pair<CollectiveAlgorithm, std::string_view>>(
      {{CollectiveAlgorithm::automatic, "automatic"},
       {CollectiveAlgorithm::ring, "ring"},
       {CollectiveAlgorithm::bidirectional_ring, "bidirectional_ring"},
       {CollectiveAlgorithm::tree, "tree"},
       {CollectiveAlgorithm::halving_doubling, "halving_doubling"},
       {CollectiveAlgorithm::direct, "direct"},
       {CollectiveAlgorithm::hierarchical, "hierarchical"}});
};

/// Message sizes: all_reduce, reduce_scatter, broadcast, send_recv: the whole buffer of one rank; all_gather: the
/// gathered result; all_to_all: what one rank sends in all, its own part included.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes bytes{};
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::automatic;
  bool operator==(const Collective&) const = default;
};

/// One message; `from` and `to` index the group. It carries [offset, offset + bytes) of the buffer and is added to what
/// the receiver has there (`reduce`), or replaces it. Only all_to_all differs: `offset` is in the sender's buffer, and
/// the message becomes part `from` of the receiver's result.
struct Send {
  std::int32_t from = 0, to = 0;
  Bytes bytes{};
  Bytes offset{};
  bool reduce = false;
  bool operator==(const Send&) const = default;
};
/// Sends of one step run at once; a rank begins a step when its part of the step before has arrived.
using CollectiveSteps = std::vector<std::vector<Send>>;

/// `ranks`: device of each member, so that rings go round nodes in order. A group of one has no steps. Where one
/// message reaches only some of a member's links into a level (Level::links_per_message), what crosses it is cut into
/// as many messages as reach all, as a library's channels do; not so for send_recv.
///
/// What the algorithms do, by kind:
/// - ring: n - 1 steps to reduce and scatter, n - 1 to gather; broadcast: from rank 0 along the ring, in pieces;
/// - bidirectional_ring: half of every part the other way round;
/// - tree: binary, over contiguous halves of the group, root rank 0, in pieces that follow each other; only all_reduce
///   and broadcast, other kinds run as ring;
/// - halving_doubling: any n for all_reduce (beyond the largest power of two, ranks hand their data to a neighbour
///   first); other kinds run as ring unless n is a power of two; all_to_all, broadcast: as direct, tree;
/// - direct: everybody to everybody at once;
/// - hierarchical: level by level (a torus: dimension by dimension), reduce and scatter on the way out, gather on the
/// way
///   in. Its reduce_scatter leaves (and its all_gather expects) part (position in group) * (number of groups) + (group)
///   at a rank. Runs as ring where the ranks do not fill the levels evenly;
/// - all_to_all: all at once (direct, hierarchical, automatic), else n - 1 pairwise exchanges;
/// - send_recv: every rank sends all to the next, the last to the first.
CollectiveSteps collective_steps(const Collective& collective, const Cluster& cluster,
                                 std::span<const std::int64_t> ranks);

/// The algorithm that `automatic` stands for on this group and size: the least collective_time, direct only up to 16
/// ranks (beyond, it needs more queues than there are), the first in the order of the enumeration among equals.
CollectiveAlgorithm choose_algorithm(const Collective& collective, const Cluster& cluster,
                                     std::span<const std::int64_t> ranks);

/// Alpha-beta closed form with nobody else on the links: software overhead + for each step its latency and overhead and
/// its bytes over the busiest link it crosses. Steps of a ring overlap along it: the longest chain of messages, or the
/// busiest link, whichever takes longer.
/// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, by algorithm.
Seconds collective_time(const Collective& collective, const Cluster& cluster, std::span<const std::int64_t> ranks);

/// The same when several groups of equal size run it at once and share links (the data-parallel groups of a node share
/// its NICs). `automatic` is what the first group alone would choose.
Seconds collective_time(const Collective& collective, const Cluster& cluster,
                        std::span<const std::vector<std::int64_t>> groups);

/// Point-to-point: `bytes` from device to device with nobody else on the links.
Seconds send_time(Bytes bytes, const Cluster& cluster, std::int64_t from, std::int64_t to);
/// The first of several messages of `bytes` that go at once from first to second device of each pair.
Seconds send_time(Bytes bytes, const Cluster& cluster, std::span<const std::pair<std::int64_t, std::int64_t>> pairs);

/// Most bytes that one rank sends in all, ring algorithm: the least that any algorithm can do.
Bytes bytes_sent_per_rank(const Collective& collective, std::int64_t ranks);

}  // namespace tandem
