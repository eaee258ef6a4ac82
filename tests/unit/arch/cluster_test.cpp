// SPDX-License-Identifier: Apache-2.0
#include "arch/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/support/error.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Level level_of(LevelKind kind, std::vector<std::int64_t> dims) {
  return {.name = "net",
          .kind = kind,
          .dims = std::move(dims),
          .links = 2,
          .link_bandwidth = Bandwidth(10e9),
          .efficiency = 0.5,
          .links_per_message = 1};
}

/// Nodes of eight chips, four nodes.
Cluster nodes() {
  Cluster cluster;
  cluster.name = "nodes";
  cluster.levels = {level_of(LevelKind::switched, {8}), level_of(LevelKind::fat_tree, {4})};
  return cluster;
}

TEST(Level, MemberBandwidthByKind) {
  EXPECT_DOUBLE_EQ(level_of(LevelKind::switched, {8}).member_bandwidth().value(), 10e9);
  EXPECT_DOUBLE_EQ(level_of(LevelKind::ring, {8}).member_bandwidth().value(), 20e9);
  EXPECT_DOUBLE_EQ(level_of(LevelKind::torus3d, {4, 4, 4}).member_bandwidth().value(), 60e9);
  EXPECT_DOUBLE_EQ(level_of(LevelKind::torus3d, {4, 4, 1}).member_bandwidth().value(), 40e9);
  EXPECT_DOUBLE_EQ(level_of(LevelKind::fully_connected, {4}).member_bandwidth().value(), 30e9);
}

TEST(Level, MessageStripesOverItsLinksOnly) {
  Level level = level_of(LevelKind::switched, {8});
  EXPECT_DOUBLE_EQ(level.message_bandwidth().value(), 5e9);
  level.links_per_message = 16;
  EXPECT_DOUBLE_EQ(level.message_bandwidth().value(), 10e9);
}

TEST(Cluster, CountsDevicesByLevel) {
  const Cluster cluster = nodes();
  EXPECT_EQ(cluster.devices(), 32);
  EXPECT_EQ(cluster.devices_below(0), 1);
  EXPECT_EQ(cluster.devices_below(1), 8);
}

TEST(Cluster, DevicesMeetAtTheLowestCommonLevel) {
  const Cluster cluster = nodes();
  EXPECT_EQ(cluster.meeting_level(3, 3), 2U);
  EXPECT_EQ(cluster.meeting_level(0, 7), 0U);
  EXPECT_EQ(cluster.meeting_level(7, 8), 1U);
  EXPECT_EQ(cluster.meeting_level(0, 31), 1U);
}

TEST(ClusterResized, FillsTheInnermostLevelFirst) {
  const Cluster four = nodes().resized(4);
  EXPECT_THAT(four.levels[0].dims, ElementsAre(4));
  EXPECT_THAT(four.levels[1].dims, ElementsAre(1));
  const Cluster sixteen = nodes().resized(16);
  EXPECT_THAT(sixteen.levels[0].dims, ElementsAre(8));
  EXPECT_THAT(sixteen.levels[1].dims, ElementsAre(2));
}

TEST(ClusterResized, GrowsTheOutermostLevel) {
  const Cluster large = nodes().resized(800);
  EXPECT_THAT(large.levels[1].dims, ElementsAre(100));
  EXPECT_EQ(large.devices(), 800);
}

TEST(ClusterResized, PartOfANodeIsRefusedWithNumbers) {
  try {
    static_cast<void>(nodes().resized(12));
    FAIL() << "12 devices do not fill nodes of 8";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("12 devices"));
    EXPECT_THAT(error.what(), HasSubstr("multiple of 8, such as 8 or 16"));
  }
  EXPECT_THROW(static_cast<void>(nodes().resized(0)), ConfigError);
  EXPECT_THROW(static_cast<void>(nodes().resized(-8)), ConfigError);
}

TEST(ClusterResized, TorusBecomesNearlyCubic) {
  Cluster pod;
  pod.levels = {level_of(LevelKind::torus3d, {8, 8, 16})};
  EXPECT_THAT(pod.resized(1024).levels[0].dims, ElementsAre(8, 8, 16));
  EXPECT_THAT(pod.resized(512).levels[0].dims, ElementsAre(8, 8, 8));
  EXPECT_THAT(pod.resized(64).levels[0].dims, ElementsAre(4, 4, 4));
  EXPECT_THAT(pod.resized(48).levels[0].dims, ElementsAre(3, 4, 4));
  EXPECT_THAT(pod.resized(7).levels[0].dims, ElementsAre(1, 1, 7));
  EXPECT_THAT(pod.resized(1).levels[0].dims, ElementsAre(1, 1, 1));
  pod.levels = {level_of(LevelKind::torus2d, {4, 4})};
  EXPECT_THAT(pod.resized(128).levels[0].dims, ElementsAre(8, 16));
}

TEST(ClusterResized, EverySizeMultipliesExactly) {
  Cluster pod;
  pod.levels = {level_of(LevelKind::torus3d, {8, 8, 16})};
  for (std::int64_t devices = 1; devices <= 600; ++devices) EXPECT_EQ(pod.resized(devices).devices(), devices);
}

TEST(Cluster, SizesBeyond64BitsAreAnError) {
  Cluster cluster;
  cluster.levels = {level_of(LevelKind::switched, {std::int64_t{1} << 40}),
                    level_of(LevelKind::switched, {std::int64_t{1} << 40})};
  EXPECT_THROW(static_cast<void>(cluster.devices()), std::overflow_error);
}

}  // namespace
}  // namespace tandem
