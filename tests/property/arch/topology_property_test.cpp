// SPDX-License-Identifier: Apache-2.0
// Routes of random clusters, checked by walking the links by name: continuity, least length, balance.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>

#include "arch/topology.h"

namespace tandem {
namespace {

constexpr std::array kKinds{LevelKind::ring,     LevelKind::torus2d, LevelKind::torus3d, LevelKind::fully_connected,
                            LevelKind::switched, LevelKind::fat_tree};

std::size_t dimensions(LevelKind kind) {
  if (kind == LevelKind::torus2d) return 2;
  return kind == LevelKind::torus3d ? 3 : 1;
}

Cluster random_cluster(std::mt19937& random) {
  const auto draw = [&random](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  Cluster cluster;
  for (std::int64_t l = draw(1, 3); l > 0; --l) {
    Level level{.name = fmt::format("l{}", l), .kind = kKinds[static_cast<std::size_t>(draw(0, 5))]};
    for (std::size_t d = 0; d < dimensions(level.kind); ++d) level.dims.push_back(draw(1, 4));
    level.oversubscription = level.kind == LevelKind::fat_tree && draw(0, 1) == 1 ? 2.0 : 1.0;
    cluster.levels.push_back(level);
  }
  return cluster;
}

/// Hops that a shortest path needs at the level where two devices meet.
std::int64_t least_hops(const Cluster& cluster, std::int64_t from, std::int64_t to) {
  const std::size_t depth = cluster.meeting_level(from, to);
  const Level& level = cluster.levels[depth];
  std::int64_t a = from / cluster.devices_below(depth) % level.size();
  std::int64_t b = to / cluster.devices_below(depth) % level.size();
  switch (level.kind) {
    case LevelKind::fully_connected: return 1;
    case LevelKind::switched: return 2;
    case LevelKind::fat_tree: return level.oversubscription > 1 ? 3 : 2;
    default: break;
  }
  std::int64_t hops = 0;
  for (const std::int64_t extent : level.dims) {
    const std::int64_t apart = std::abs(a % extent - b % extent);
    hops += std::min(apart, extent - apart);
    a /= extent;
    b /= extent;
  }
  return hops;
}

/// Where a link of a grid leads, by its own arithmetic on the name ("l1.chip5.-y").
std::int64_t neighbour(const Level& level, std::int64_t member, const std::string& port) {
  const auto axis = static_cast<std::size_t>(port[1] - 'x');
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < axis; ++d) stride *= level.dims[d];
  const std::int64_t extent = level.dims[axis];
  const std::int64_t at = member / stride % extent;
  const std::int64_t next = (at + (port[0] == '+' ? 1 : extent - 1)) % extent;
  return member + (next - at) * stride;
}

struct Parts {
  std::int64_t member = 0;
  std::string port;
};

Parts parts_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  const std::size_t digit = name.find_first_of("0123456789", name.find('.'));
  return {std::stoll(name.substr(digit, dot - digit)), name.substr(dot + 1)};
}

void expect_continuous(const Cluster& cluster, const Topology& topology, std::int64_t from, std::int64_t to) {
  const std::size_t depth = cluster.meeting_level(from, to);
  const Level& level = cluster.levels[depth];
  const std::int64_t below = cluster.devices_below(depth);
  const std::vector<LinkId> route = topology.route(from, to);
  std::int64_t at = from / below;
  for (const LinkId id : route) {
    const LinkSpec& link = topology.links()[static_cast<std::size_t>(id)];
    EXPECT_EQ(link.level, static_cast<std::int32_t>(depth));
    if (link.name.find(".core") != std::string::npos) continue;
    const auto [member, port] = parts_of(link.name);
    if (port == "up") {
      EXPECT_EQ(member, at);
    } else if (port == "down") {
      at = member;
    } else {
      EXPECT_EQ(member, at) << "a link starts where the one before ended";
      at = port.starts_with("to") ? member / level.size() * level.size() + std::stoll(port.substr(2))
                                  : neighbour(level, member, port);
    }
  }
  EXPECT_EQ(at, to / below);
}

TEST(TopologyProperty, RoutesAreContinuousAndShortest) {
  std::mt19937 random(1);
  for (int n = 0; n < 150; ++n) {
    const Cluster cluster = random_cluster(random);
    const Topology topology(cluster);
    std::uniform_int_distribution<std::int64_t> device(0, topology.devices() - 1);
    for (int pair = 0; pair < 100; ++pair) {
      const std::int64_t from = device(random);
      const std::int64_t to = device(random);
      if (from == to) {
        EXPECT_TRUE(topology.route(from, to).empty());
        continue;
      }
      expect_continuous(cluster, topology, from, to);
      EXPECT_EQ(static_cast<std::int64_t>(topology.route(from, to).size()), least_hops(cluster, from, to));
    }
  }
}

// In an all-to-all over a level of one kind every link of the same port is used equally often.
TEST(TopologyProperty, AllToAllLoadsEqualPortsEqually) {
  std::mt19937 random(2);
  for (int n = 0; n < 40; ++n) {
    Cluster cluster = random_cluster(random);
    cluster.levels.resize(1);
    const Topology topology(cluster);
    std::vector<std::int64_t> uses(topology.links().size());
    for (std::int64_t from = 0; from < topology.devices(); ++from) {
      for (std::int64_t to = 0; to < topology.devices(); ++to) {
        for (const LinkId id : topology.route(from, to)) ++uses[static_cast<std::size_t>(id)];
      }
    }
    std::map<std::string, std::set<std::int64_t>> by_port;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const std::string& name = topology.links()[i].name;
      const std::string port = name.substr(name.rfind('.') + 1);
      by_port[port.starts_with("to") ? "to" : port].insert(uses[i]);
    }
    for (const auto& [port, counts] : by_port) EXPECT_EQ(counts.size(), 1U) << port;
  }
}

TEST(TopologyProperty, LinkNamesAreUnique) {
  std::mt19937 random(3);
  for (int n = 0; n < 60; ++n) {
    const Topology topology(random_cluster(random));
    std::set<std::string> seen;
    for (const LinkSpec& link : topology.links()) EXPECT_TRUE(seen.insert(link.name).second) << link.name;
  }
}

}  // namespace
}  // namespace tandem
