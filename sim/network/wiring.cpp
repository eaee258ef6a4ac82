// SPDX-License-Identifier: Apache-2.0
#include "sim/network/wiring.h"

#include <map>

namespace tandem {
namespace {

bool is_switched(const Level& level) { return level.kind == LevelKind::switched || level.kind == LevelKind::fat_tree; }

}  // namespace

Wiring::Wiring(const Cluster& cluster) : cluster_(cluster) {
  topology_.emplace_back(cluster);
  links_ = topology_.front().links();
  switch_after_.assign(links_.size(), -1);
  for (std::size_t level = 0; level < cluster.levels.size(); ++level) {
    switch_offset_.push_back(is_switched(cluster.levels[level]) ? switches_ : -1);
    if (is_switched(cluster.levels[level])) switches_ += cluster.devices() / cluster.devices_below(level + 1);
  }
}

Wiring::Wiring(const Cluster& cluster, const Topology& topology,
               std::span<const std::pair<std::int64_t, std::int64_t>> pairs)
    : cluster_(cluster) {
  std::map<LinkId, LinkId> renumbered;
  for (const auto& [from, to] : pairs) {
    Route route = topology.route(from, to);
    for (LinkId& link : route) {
      const auto [entry, fresh] = renumbered.try_emplace(link, static_cast<LinkId>(links_.size()));
      if (fresh) links_.push_back(topology.links()[static_cast<std::size_t>(link)]);
      link = entry->second;
    }
    keep(from, to, std::move(route));
  }
  switch_after_.assign(links_.size(), -1);
}

const Route& Wiring::route(std::int64_t from, std::int64_t to) {
  const auto found = routes_.find(checked_product(from, cluster_.devices()) + to);
  if (found != routes_.end()) return found->second;
  if (topology_.empty()) throw std::logic_error("a network was asked for a route that it was not built for");
  const Route& route = keep(from, to, topology_.front().route(from, to));
  note_switches(from, route);
  return route;
}

const Route& Wiring::keep(std::int64_t from, std::int64_t to, Route route) {
  return routes_.insert_or_assign(checked_product(from, cluster_.devices()) + to, std::move(route)).first->second;
}

void Wiring::note_switches(std::int64_t from, const Route& route) {
  for (std::size_t hop = 0; hop + 1 < route.size(); ++hop) {
    const std::int32_t level = links_[static_cast<std::size_t>(route[hop])].level;
    if (level != links_[static_cast<std::size_t>(route[hop + 1])].level) continue;
    const std::int64_t first = switch_offset_[static_cast<std::size_t>(level)];
    if (first < 0) continue;
    const std::int64_t group = from / cluster_.devices_below(static_cast<std::size_t>(level) + 1);
    switch_after_[static_cast<std::size_t>(route[hop])] = static_cast<std::int32_t>(first + group);
  }
}

}  // namespace tandem
