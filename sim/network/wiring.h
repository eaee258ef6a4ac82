// SPDX-License-Identifier: Apache-2.0
// The part of a topology that a simulation builds, and the routes over it.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arch/cluster.h"
#include "arch/topology.h"

namespace tandem {

using Route = std::vector<LinkId>;

/// Links of one network, the switches between them, and the route of every pair of devices. Routes are looked up once
/// per pair and then kept.
class Wiring {
 public:
  /// Everything in the cluster.
  explicit Wiring(const Cluster& cluster);
  /// Only what the `pairs` of devices use, links renumbered by first use.
  Wiring(const Cluster& cluster, const Topology& topology,
         std::span<const std::pair<std::int64_t, std::int64_t>> pairs);

  [[nodiscard]] const std::vector<LinkSpec>& links() const { return links_; }
  [[nodiscard]] std::int64_t switches() const { return switches_; }
  /// Stable for the life of the wiring.
  [[nodiscard]] const Route& route(std::int64_t from, std::int64_t to);
  /// The switch that `link` ends in; -1 where it ends in a device.
  [[nodiscard]] std::int32_t switch_after(LinkId link) const { return switch_after_[static_cast<std::size_t>(link)]; }

 private:
  const Route& keep(std::int64_t from, std::int64_t to, Route route);
  void note_switches(std::int64_t from, const Route& route);

  Cluster cluster_;
  std::vector<Topology> topology_;  ///< one; none where all routes are known
  std::vector<LinkSpec> links_;
  std::vector<std::int32_t> switch_after_;
  std::vector<std::int64_t> switch_offset_;  ///< first switch of each level; -1: no switches there
  std::int64_t switches_ = 0;
  std::unordered_map<std::int64_t, Route> routes_;
};

}  // namespace tandem
