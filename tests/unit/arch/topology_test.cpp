// SPDX-License-Identifier: Apache-2.0
#include "arch/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "arch/support/error.h"

namespace tandem {
namespace {

using testing::ElementsAre;

Level level_of(LevelKind kind, std::vector<std::int64_t> dims) {
  return {.name = "net",
          .kind = kind,
          .dims = std::move(dims),
          .links = 2,
          .link_bandwidth = Bandwidth(10e9),
          .link_latency = Seconds(1e-6),
          .links_per_message = 1};
}

Cluster cluster_of(std::vector<Level> levels) {
  Cluster cluster;
  cluster.name = "c";
  cluster.levels = std::move(levels);
  return cluster;
}

std::vector<std::string> names(const Topology& topology, std::int64_t from, std::int64_t to) {
  std::vector<std::string> result;
  for (const LinkId id : topology.route(from, to)) {
    result.push_back(topology.links()[static_cast<std::size_t>(id)].name);
  }
  return result;
}

TEST(Topology, RingGoesTheShorterWay) {
  const Topology ring(cluster_of({level_of(LevelKind::ring, {6})}));
  EXPECT_EQ(ring.links().size(), 12U);
  EXPECT_THAT(names(ring, 0, 2), ElementsAre("net.chip0.+x", "net.chip1.+x"));
  EXPECT_THAT(names(ring, 0, 5), ElementsAre("net.chip0.-x"));
  EXPECT_THAT(names(ring, 5, 1), ElementsAre("net.chip5.+x", "net.chip0.+x"));
  EXPECT_THAT(names(ring, 4, 1), ElementsAre("net.chip4.+x", "net.chip5.+x", "net.chip0.+x")) << "tie: positive";
  EXPECT_TRUE(ring.route(3, 3).empty());
}

TEST(Topology, TorusRoutesInDimensionOrder) {
  const Topology torus(cluster_of({level_of(LevelKind::torus2d, {3, 4})}));
  // 0 is (0, 0); 8 is (2, 2): one step back in x, two on in y.
  EXPECT_THAT(names(torus, 0, 8), ElementsAre("net.chip0.-x", "net.chip2.+y", "net.chip5.+y"));
}

TEST(Topology, FullyConnectedIsOneHop) {
  const Topology mesh(cluster_of({level_of(LevelKind::fully_connected, {4})}));
  EXPECT_EQ(mesh.links().size(), 12U);
  EXPECT_THAT(names(mesh, 2, 3), ElementsAre("net.chip2.to3"));
  EXPECT_THAT(names(mesh, 2, 0), ElementsAre("net.chip2.to0"));
  std::set<LinkId> used;
  for (std::int64_t a = 0; a < 4; ++a) {
    for (std::int64_t b = 0; b < 4; ++b) {
      if (a != b) used.insert(mesh.route(a, b).front());
    }
  }
  EXPECT_EQ(used.size(), 12U) << "a link of its own for every ordered pair";
}

TEST(Topology, SwitchIsUpThenDown) {
  const Topology nodes(cluster_of({level_of(LevelKind::switched, {8})}));
  EXPECT_EQ(nodes.links().size(), 16U);
  EXPECT_THAT(names(nodes, 1, 6), ElementsAre("net.chip1.up", "net.chip6.down"));
}

TEST(Topology, ChipsOfANodeShareItsLinks) {
  const Topology nodes(cluster_of({level_of(LevelKind::switched, {4}), level_of(LevelKind::fat_tree, {3})}));
  EXPECT_THAT(names(nodes, 1, 9), ElementsAre("net.group0.up", "net.group2.down"));
  EXPECT_EQ(nodes.route(0, 8), nodes.route(3, 11));
  EXPECT_THAT(names(nodes, 4, 5), ElementsAre("net.chip4.up", "net.chip5.down"));
}

TEST(Topology, OversubscribedFatTreePoolsItsUpperStages) {
  Level level = level_of(LevelKind::fat_tree, {8});
  level.oversubscription = 4;
  const Topology tree(cluster_of({level}));
  EXPECT_THAT(names(tree, 0, 5), ElementsAre("net.chip0.up", "net.core0", "net.chip5.down"));
  const LinkSpec& core = tree.links()[static_cast<std::size_t>(tree.route(0, 5)[1])];
  EXPECT_DOUBLE_EQ(core.bandwidth.value(), 8 * 20e9 / 4);
  EXPECT_EQ(core.latency, Seconds(0));
}

TEST(Topology, ChannelCarriesAllParallelLinks) {
  const Topology nodes(cluster_of({level_of(LevelKind::switched, {8})}));
  const LinkSpec& link = nodes.links().front();
  EXPECT_DOUBLE_EQ(link.bandwidth.value(), 20e9);
  EXPECT_DOUBLE_EQ(link.message_bandwidth.value(), 10e9);
  EXPECT_EQ(link.latency, Seconds(1e-6));
}

TEST(Topology, LevelOfOneMemberHasNoLinks) {
  const Topology one(cluster_of({level_of(LevelKind::switched, {8}), level_of(LevelKind::torus3d, {1, 1, 1})}));
  EXPECT_EQ(one.links().size(), 16U);
}

TEST(Topology, UnknownDeviceIsRefused) {
  const Topology ring(cluster_of({level_of(LevelKind::ring, {6})}));
  EXPECT_THROW(static_cast<void>(ring.route(0, 6)), std::out_of_range);
  EXPECT_THROW(static_cast<void>(ring.route(-1, 0)), std::out_of_range);
}

TEST(Topology, TooManyLinksAreRefused) {
  EXPECT_THROW(Topology(cluster_of({level_of(LevelKind::fully_connected, {8192})})), ConfigError);
}

TEST(Topology, LargePodIsSetUp) {
  const Topology pod(cluster_of({level_of(LevelKind::torus3d, {32, 32, 64})}));
  EXPECT_EQ(pod.devices(), 65536);
  EXPECT_EQ(pod.links().size(), 6U * 65536U);
  EXPECT_EQ(pod.route(0, 65535).size(), 3U) << "one step back in every dimension";
}

}  // namespace
}  // namespace tandem
