// SPDX-License-Identifier: Apache-2.0
// How long messages take that go at once over a cluster's links, in closed form.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "arch/cluster.h"

namespace tandem {

/// A directed link: the `port` of a member of a level, numbered as by Topology; the upper stages of an oversubscribed
/// fat tree are port -1 of the group.
struct LinkKey {
  std::int64_t level = 0, member = 0, port = 0;
  auto operator<=>(const LinkKey&) const = default;
};

/// Links from device to device in order, those of Topology::route (dimension order, the shorter way, positive on a
/// tie).
std::vector<LinkKey> links_between(const Cluster& cluster, std::int64_t from, std::int64_t to);

/// Messages of one moment, and what each waits for.
class LinkLoads {
 public:
  explicit LinkLoads(const Cluster& cluster) : cluster_(&cluster) {}

  /// A message cut into `parts` equal ones.
  void add(std::int64_t from, std::int64_t to, Bytes bytes, std::int64_t parts);
  /// After the last add().
  void settle();

  /// Propagation along the message's route.
  [[nodiscard]] Seconds latency(std::size_t message) const { return messages_[message].latency; }
  /// The busiest link that the message crosses, with all that it carries; never less than the message alone can do.
  [[nodiscard]] Seconds occupancy(std::size_t message) const;

 private:
  struct Message {
    std::size_t first = 0, count = 0;  ///< its keys
    Seconds latency{};
    Seconds alone{};
  };
  struct Load {
    LinkKey key;
    double seconds = 0;
  };

  const Cluster* cluster_;
  std::vector<Message> messages_;
  std::vector<Load> crossed_;  ///< by message
  std::vector<Load> total_;    ///< by link
};

}  // namespace tandem
