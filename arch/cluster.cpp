// SPDX-License-Identifier: Apache-2.0
#include "arch/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "arch/support/error.h"

namespace tandem {
namespace {

bool is_grid(LevelKind kind) {
  return kind == LevelKind::ring || kind == LevelKind::torus2d || kind == LevelKind::torus3d;
}

/// Two or three factors of `size`, ascending, with the least sum: the least distance across a torus.
std::vector<std::int64_t> near_cube(std::int64_t size, std::size_t factors) {
  if (factors == 1) return {size};
  std::vector<std::int64_t> best;
  std::int64_t best_sum = 0;
  for (std::int64_t first = 1; first <= size / first; ++first) {
    if (size % first != 0) continue;
    if (factors == 3 && first * first > size / first) break;
    std::vector<std::int64_t> dims = near_cube(size / first, factors - 1);
    dims.insert(dims.begin(), first);
    std::int64_t sum = 0;
    for (const std::int64_t extent : dims) sum += extent;
    if (best.empty() || sum < best_sum) {
      best_sum = sum;
      best = std::move(dims);
    }
  }
  std::sort(best.begin(), best.end());
  return best;
}

void set_size(Level& level, std::int64_t size) {
  if (level.size() != size) level.dims = near_cube(size, level.dims.size());
}

}  // namespace

std::int64_t Level::size() const {
  std::int64_t members = 1;
  for (const std::int64_t extent : dims) members = checked_product(members, extent);
  return members;
}

Bandwidth Level::member_bandwidth() const {
  std::int64_t channels = 1;
  if (is_grid(kind)) {
    channels = 2 * std::count_if(dims.begin(), dims.end(), [](std::int64_t extent) { return extent > 1; });
  } else if (kind == LevelKind::fully_connected) {
    channels = size() - 1;
  }
  return link_bandwidth * (efficiency * static_cast<double>(checked_product(channels, links)));
}

Bandwidth Level::message_bandwidth() const {
  return link_bandwidth * (efficiency * static_cast<double>(std::min(links_per_message, links)));
}

std::int64_t Cluster::devices() const { return devices_below(levels.size()); }

std::int64_t Cluster::devices_below(std::size_t level) const {
  std::int64_t product = 1;
  for (std::size_t l = 0; l < level; ++l) product = checked_product(product, levels[l].size());
  return product;
}

std::size_t Cluster::meeting_level(std::int64_t a, std::int64_t b) const {
  if (a == b) return levels.size();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const std::int64_t members = levels[l].size();
    a /= members;
    b /= members;
    if (a == b) return l;
  }
  throw std::out_of_range("device outside the cluster");
}

Cluster Cluster::resized(std::int64_t devices) const {
  if (devices < 1) throw ConfigError(fmt::format("cluster {}: {} devices; expected at least 1", name, devices));
  Cluster result = *this;
  std::int64_t members = devices;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    Level& level = result.levels[l];
    const std::int64_t full = level.size();
    if (l + 1 == levels.size() || members <= full) {
      set_size(level, members);
      members = 1;
    } else if (members % full == 0) {
      members /= full;
    } else {
      const std::int64_t whole = devices_below(l + 1);
      throw ConfigError(fmt::format(
          "cluster {}: {} devices do not fill whole groups of level {} ({} devices each); expected a multiple of {}, "
          "such as {} or {}",
          name, devices, level.name, whole, whole, devices / whole * whole, ceil_div(devices, whole) * whole));
    }
  }
  return result;
}

}  // namespace tandem
