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

/// One message; `from` and `to` index the group.
struct Send {
  std::int32_t from = 0, to = 0;
  Bytes bytes{};
};
/// Sends of one step run at once; a rank begins a step when its part of the step before has arrived.
using CollectiveSteps = std::vector<std::vector<Send>>;

/// `ranks`: device of each member, so that rings go round nodes in order. A group of one has no steps.
CollectiveSteps collective_steps(const Collective& collective, const Cluster& cluster,
                                 std::span<const std::int64_t> ranks);

/// The algorithm that `automatic` stands for on this group and size.
CollectiveAlgorithm choose_algorithm(const Collective& collective, const Cluster& cluster,
                                     std::span<const std::int64_t> ranks);

/// Alpha-beta closed form with nobody else on the links: software overhead + steps * (latency + step overhead)
/// + bytes over the narrowest link crossed, counting members that share it.
/// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, by algorithm.
Seconds collective_time(const Collective& collective, const Cluster& cluster, std::span<const std::int64_t> ranks);

/// Bytes that one rank sends in all.
Bytes bytes_sent_per_rank(const Collective& collective, std::int64_t ranks);

}  // namespace tandem
