// SPDX-License-Identifier: Apache-2.0
#include "workloads/link_loads.h"

#include <algorithm>

namespace tandem {
namespace {

bool is_grid(LevelKind kind) {
  return kind == LevelKind::ring || kind == LevelKind::torus2d || kind == LevelKind::torus3d;
}

Bandwidth port_bandwidth(const Level& level, const LinkKey& link) {
  const Bandwidth port = level.link_bandwidth * (level.efficiency * static_cast<double>(level.links));
  if (link.port >= 0) return port;
  return port * (static_cast<double>(level.size()) / level.oversubscription);
}

std::vector<LinkKey> grid_route(const Level& level, std::int64_t depth, std::int64_t from, std::int64_t to) {
  std::vector<LinkKey> route;
  std::int64_t here = from;
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < level.dims.size(); ++d) {
    const std::int64_t extent = level.dims[d];
    const std::int64_t target = to / stride % extent;
    std::int64_t at = here / stride % extent;
    const std::int64_t ahead = (target - at + extent) % extent;
    const bool forward = 2 * ahead <= extent;
    while (at != target) {
      route.push_back({depth, here, static_cast<std::int64_t>(2 * d) + (forward ? 0 : 1)});
      const std::int64_t next = (at + (forward ? 1 : extent - 1)) % extent;
      here += (next - at) * stride;
      at = next;
    }
    stride *= extent;
  }
  return route;
}

}  // namespace

std::vector<LinkKey> links_between(const Cluster& cluster, std::int64_t from, std::int64_t to) {
  std::vector<LinkKey> route;
  if (from == to) return route;
  const std::size_t depth = cluster.meeting_level(from, to);
  const Level& level = cluster.levels[depth];
  const std::int64_t below = cluster.devices_below(depth);
  const std::int64_t a = from / below;
  const std::int64_t b = to / below;
  const auto key_level = static_cast<std::int64_t>(depth);
  if (is_grid(level.kind)) return grid_route(level, key_level, a, b);
  if (level.kind == LevelKind::fully_connected) {
    const std::int64_t target = b % level.size();
    route.push_back({key_level, a, target < a % level.size() ? target : target - 1});
  } else {
    route.push_back({key_level, a, 0});
    if (level.kind == LevelKind::fat_tree && level.oversubscription > 1) {
      route.push_back({key_level, a / level.size(), -1});
    }
    route.push_back({key_level, b, 1});
  }
  return route;
}

void LinkLoads::add(std::int64_t from, std::int64_t to, Bytes bytes, std::int64_t parts) {
  Message message;
  message.first = crossed_.size();
  for (const LinkKey& link : links_between(*cluster_, from, to)) {
    const Level& level = cluster_->levels[static_cast<std::size_t>(link.level)];
    crossed_.push_back({link, (bytes / port_bandwidth(level, link)).count()});
    if (link.port >= 0) message.latency += level.link_latency;
    message.alone = std::max(message.alone, bytes / (level.message_bandwidth() * parts));
  }
  message.count = crossed_.size() - message.first;
  messages_.push_back(message);
}

void LinkLoads::settle() {
  total_ = crossed_;
  std::stable_sort(total_.begin(), total_.end(), [](const Load& a, const Load& b) { return a.key < b.key; });
  std::size_t unique = 0;
  for (std::size_t i = 0; i < total_.size(); ++i) {
    if (unique > 0 && total_[unique - 1].key == total_[i].key) {
      total_[unique - 1].seconds += total_[i].seconds;
    } else {
      total_[unique++] = total_[i];
    }
  }
  total_.resize(unique);
}

Seconds LinkLoads::occupancy(std::size_t message) const {
  const Message& own = messages_[message];
  Seconds worst = own.alone;
  for (std::size_t i = own.first; i < own.first + own.count; ++i) {
    const auto load = std::lower_bound(total_.begin(), total_.end(), crossed_[i].key,
                                       [](const Load& a, const LinkKey& key) { return a.key < key; });
    worst = std::max(worst, Seconds(load->seconds));
  }
  return worst;
}

}  // namespace tandem
