// SPDX-License-Identifier: Apache-2.0
// A cluster's levels unrolled into links and switches, with shortest-path routing in closed form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/cluster.h"

namespace tandem {

using LinkId = std::int32_t;

/// One directed channel: all parallel links of a member in one direction (payload rate).
struct LinkSpec {
  std::string name;  ///< e.g. "node3.up"
  std::int32_t level = 0;
  Bandwidth bandwidth{};          ///< of the whole channel
  Bandwidth message_bandwidth{};  ///< of one message alone
  Seconds latency{};
};

/// Directed links of a cluster. Set-up is linear in links; a route is computed, not stored.
///
/// The links of a level belong to its members and are shared by all chips of a member (the GPUs of a node share its
/// NICs). Per member: two per dimension of a ring or torus (+, -), one per peer where fully connected, one up and one
/// down at a switch or fat tree. The upper stages of an oversubscribed fat tree are one pooled channel per group with
/// the members' bandwidth over the oversubscription and no latency of its own. A level of one member has no links.
class Topology {
 public:
  /// Throws ConfigError beyond 2^24 links.
  explicit Topology(const Cluster& cluster);

  [[nodiscard]] std::int64_t devices() const;
  [[nodiscard]] const std::vector<LinkSpec>& links() const;
  /// Links crossed in order from device `from` to device `to`: empty if equal. Deterministic: dimension order in a
  /// torus (the first of `dims` is the fastest-running coordinate), the shorter way round a ring, the positive
  /// direction on a tie. std::out_of_range for a device the cluster does not have.
  [[nodiscard]] std::vector<LinkId> route(std::int64_t from, std::int64_t to) const;

 private:
  struct Block {
    std::int64_t first = 0;    ///< first link of the level
    std::int64_t ports = 0;    ///< links that one member owns
    std::int64_t size = 1;     ///< members of a group
    std::int64_t below = 1;    ///< chips in a member
    std::int64_t members = 0;  ///< of all groups
    std::int64_t first_core = 0;
  };

  /// Appends the links of one level; returns how many there are by then.
  std::int64_t add_level(std::size_t depth);
  [[nodiscard]] LinkId port(std::size_t depth, std::int64_t member, std::int64_t port) const;
  [[nodiscard]] std::vector<LinkId> grid_route(std::size_t depth, std::int64_t from, std::int64_t to) const;

  Cluster cluster_;
  std::int64_t devices_ = 0;
  std::vector<LinkSpec> links_;
  std::vector<Block> blocks_;
};

}  // namespace tandem
