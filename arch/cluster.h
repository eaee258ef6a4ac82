// SPDX-License-Identifier: Apache-2.0
// A cluster: equal chips joined by levels of network, innermost first.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/chip.h"
#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"

namespace tandem {

enum class LevelKind { ring, torus2d, torus3d, fully_connected, switched, fat_tree };

template <>
struct EnumNames<LevelKind> {
  static constexpr auto values =
      std::to_array<std::pair<LevelKind, std::string_view>>({{LevelKind::ring, "ring"},
                                                             {LevelKind::torus2d, "torus2d"},
                                                             {LevelKind::torus3d, "torus3d"},
                                                             {LevelKind::fully_connected, "fully_connected"},
                                                             {LevelKind::switched, "switch"},
                                                             {LevelKind::fat_tree, "fat_tree"}});
};

/// One level of the network. Its members are the chips (level 0) or the groups of the level below; a member's links
/// into this level are shared by all chips inside the member.
struct Level {
  std::string name{};
  LevelKind kind = LevelKind::switched;
  std::vector<std::int64_t> dims{};  ///< members along each dimension; one entry but for a torus
  /// switch, fat_tree: parallel links from a member to the switch; fully_connected: per pair; ring, torus: per
  /// neighbour.
  std::int64_t links = 1;
  Bandwidth link_bandwidth{};  ///< one link, one direction
  Seconds link_latency{};      ///< one hop (a switch is two hops)
  double efficiency = 1.0;     ///< payload share of the link rate (headers, flow control)
  /// Links that one message can be striped over (NVLink: all; one queue pair on a NIC: one).
  std::int64_t links_per_message = 1;
  double oversubscription = 1.0;  ///< fat_tree: member bandwidth over its share of the upper stages
  bool in_network_reduction = false;

  [[nodiscard]] std::int64_t size() const;  ///< members
  /// Payload bandwidth of all of a member's links into this level, one direction.
  [[nodiscard]] Bandwidth member_bandwidth() const;
  /// Payload bandwidth that one message alone can reach.
  [[nodiscard]] Bandwidth message_bandwidth() const;
};

/// Time in software, outside chips and links.
struct CommunicationOverhead {
  Seconds collective{};  ///< per collective call: launch and rendezvous
  Seconds step{};        ///< per step of a collective algorithm
  Seconds send{};        ///< per point-to-point message
};

struct Cluster {
  std::string name;
  Chip chip;
  std::vector<Level> levels;
  CommunicationOverhead overhead;
  /// The host's time to launch one operator of an eager framework. It runs ahead of the device, so only a chip that is
  /// faster than its host waits. 0: a compiled graph, never in the way.
  Seconds issue_overhead{};
  /// The host's time for a microbatch beside its operators: fetching it, masks and positions, its loss.
  Seconds microbatch_overhead{};
  Seconds iteration_overhead{};  ///< per training iteration: data loading, loss scaling, logging
  Bytes reserved_memory{};       ///< of each chip's memory: context, allocator slack

  [[nodiscard]] std::int64_t devices() const;
  /// Chips inside one member of `level` (level 0: 1).
  [[nodiscard]] std::int64_t devices_below(std::size_t level) const;
  /// Lowest level whose members include both devices; levels.size() if they are the same device.
  [[nodiscard]] std::size_t meeting_level(std::int64_t a, std::int64_t b) const;
  /// The same machine with another number of chips: levels are filled from the innermost, the outermost resized; a
  /// level that ends with one member remains. Throws ConfigError if `devices` does not fill whole members.
  [[nodiscard]] Cluster resized(std::int64_t devices) const;
};

}  // namespace tandem
