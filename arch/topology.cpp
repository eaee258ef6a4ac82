// SPDX-License-Identifier: Apache-2.0
#include "arch/topology.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "arch/support/error.h"

namespace tandem {
namespace {

/// A topology beyond this is a mistake in a config, and would not fit in memory.
constexpr std::int64_t kMostLinks = std::int64_t{1} << 24;

constexpr std::array<std::string_view, 6> kGridPorts{"+x", "-x", "+y", "-y", "+z", "-z"};

bool is_grid(LevelKind kind) {
  return kind == LevelKind::ring || kind == LevelKind::torus2d || kind == LevelKind::torus3d;
}

bool has_core(const Level& level) { return level.kind == LevelKind::fat_tree && level.oversubscription > 1; }

/// Directed channels that one member owns.
std::int64_t ports_of(const Level& level) {
  if (level.size() == 1) return 0;
  if (is_grid(level.kind)) return 2 * static_cast<std::int64_t>(level.dims.size());
  if (level.kind == LevelKind::fully_connected) return level.size() - 1;
  return 2;
}

std::string port_name(const Level& level, std::int64_t member, std::int64_t port) {
  if (is_grid(level.kind)) return std::string(kGridPorts[static_cast<std::size_t>(port)]);
  if (level.kind == LevelKind::fully_connected) {
    const std::int64_t own = member % level.size();
    return fmt::format("to{}", port < own ? port : port + 1);
  }
  return port == 0 ? "up" : "down";
}

LinkSpec member_link(const Level& level, std::size_t depth, std::int64_t member, std::int64_t port) {
  return {.name = fmt::format("{}.{}{}.{}", level.name, depth == 0 ? "chip" : "group", member,
                              port_name(level, member, port)),
          .level = static_cast<std::int32_t>(depth),
          .bandwidth = level.link_bandwidth * (level.efficiency * static_cast<double>(level.links)),
          .message_bandwidth = level.message_bandwidth(),
          .latency = level.link_latency};
}

LinkSpec core_link(const Level& level, std::size_t depth, std::int64_t group) {
  const double share = static_cast<double>(level.size()) / level.oversubscription;
  return {.name = fmt::format("{}.core{}", level.name, group),
          .level = static_cast<std::int32_t>(depth),
          .bandwidth = level.member_bandwidth() * share,
          .message_bandwidth = level.message_bandwidth(),
          .latency = Seconds(0)};
}

}  // namespace

Topology::Topology(const Cluster& cluster) : cluster_(cluster), devices_(cluster.devices()) {
  std::int64_t total = 0;
  for (std::size_t l = 0; l < cluster_.levels.size(); ++l) {
    const Level& level = cluster_.levels[l];
    const std::int64_t below = cluster_.devices_below(l);
    blocks_.push_back(
        {.first = total, .ports = ports_of(level), .size = level.size(), .below = below, .members = devices_ / below});
    total += checked_product(blocks_.back().members, blocks_.back().ports) + blocks_.back().members;
    if (total > kMostLinks) {
      throw ConfigError(
          fmt::format("cluster {}: level {} needs more than {} links", cluster_.name, level.name, kMostLinks));
    }
    total = add_level(l);
  }
}

std::int64_t Topology::add_level(std::size_t depth) {
  const Level& level = cluster_.levels[depth];
  Block& block = blocks_[depth];
  links_.reserve(links_.size() + static_cast<std::size_t>(block.members * (block.ports + 1)));
  for (std::int64_t member = 0; member < block.members; ++member) {
    for (std::int64_t port = 0; port < block.ports; ++port) links_.push_back(member_link(level, depth, member, port));
  }
  block.first_core = static_cast<std::int64_t>(links_.size());
  if (has_core(level) && block.size > 1) {
    for (std::int64_t group = 0; group < block.members / block.size; ++group) {
      links_.push_back(core_link(level, depth, group));
    }
  }
  return static_cast<std::int64_t>(links_.size());
}

std::int64_t Topology::devices() const { return devices_; }

const std::vector<LinkSpec>& Topology::links() const { return links_; }

LinkId Topology::port(std::size_t depth, std::int64_t member, std::int64_t port) const {
  const Block& block = blocks_[depth];
  return static_cast<LinkId>(block.first + member * block.ports + port);
}

std::vector<LinkId> Topology::route(std::int64_t from, std::int64_t to) const {
  if (from < 0 || to < 0 || from >= devices_ || to >= devices_) {
    throw std::out_of_range(fmt::format("route from device {} to {} of {}", from, to, devices_));
  }
  if (from == to) return {};
  const std::size_t depth = cluster_.meeting_level(from, to);
  const Block& block = blocks_[depth];
  const std::int64_t a = from / block.below;
  const std::int64_t b = to / block.below;
  const Level& level = cluster_.levels[depth];
  if (is_grid(level.kind)) return grid_route(depth, a, b);
  if (level.kind == LevelKind::fully_connected) {
    const std::int64_t target = b % block.size;
    return {port(depth, a, target < a % block.size ? target : target - 1)};
  }
  if (has_core(level)) {
    return {port(depth, a, 0), static_cast<LinkId>(block.first_core + a / block.size), port(depth, b, 1)};
  }
  return {port(depth, a, 0), port(depth, b, 1)};
}

std::vector<LinkId> Topology::grid_route(std::size_t depth, std::int64_t from, std::int64_t to) const {
  const std::vector<std::int64_t>& dims = cluster_.levels[depth].dims;
  std::vector<LinkId> path;
  std::int64_t here = from;
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::int64_t extent = dims[d];
    const std::int64_t target = to / stride % extent;
    const std::int64_t ahead = (target - here / stride % extent + extent) % extent;
    const bool forward = 2 * ahead <= extent;
    const std::int64_t step = forward ? 1 : extent - 1;
    while (here / stride % extent != target) {
      path.push_back(port(depth, here, static_cast<std::int64_t>(2 * d) + (forward ? 0 : 1)));
      const std::int64_t at = here / stride % extent;
      here += ((at + step) % extent - at) * stride;
    }
    stride *= extent;
  }
  return path;
}

}  // namespace tandem
