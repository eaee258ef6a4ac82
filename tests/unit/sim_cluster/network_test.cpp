// SPDX-License-Identifier: Apache-2.0
#include "sim/network/network.h"

#include <gtest/gtest.h>

#include "sim/kernel/context.h"
#include "tests/unit/sim_cluster/cases.h"

namespace tandem {
namespace {

using namespace testing;

/// 1 GB/s: a byte a nanosecond.
constexpr double kRate = 1e9;

class Arrivals : public MessageReceiver {
 public:
  void delivered(const Delivery& delivery) override { list.push_back(delivery); }
  std::vector<Delivery> list;
};

struct Flow {
  std::int64_t from = 0, to = 0, bytes = 0;
  Picoseconds start{};
};

struct Played {
  std::vector<Delivery> arrivals;
  Bytes carried{};  ///< by all links
  Bytes switched{};
  Picoseconds busy{};
};

Played play(const Cluster& cluster, const std::vector<Flow>& flows, const NetworkSpec& spec = {}) {
  Wiring wiring(cluster);
  Arrivals arrivals;
  const SimulationContext context;
  Network network("network", wiring, spec);
  std::int64_t sequence = 0;
  for (const Flow& flow : flows) {
    network.send({.flow = 0, .sequence = sequence++, .from = flow.from, .to = flow.to}, Bytes(flow.bytes), flow.start,
                 arrivals);
  }
  sc_core::sc_start();
  Played played{arrivals.list};
  for (const auto& link : network.links()) {
    played.carried += link->stats().bytes;
    played.busy += link->stats().busy;
  }
  for (const auto& box : network.switches()) played.switched += box->stats().bytes;
  return played;
}

TEST(Network, MessageTakesBytesOverRateAndLatency) {
  const Cluster ring = make_cluster({make_level(LevelKind::ring, {4}, kRate, 500ns)});
  const Played played = play(ring, {{0, 1, 1'000'000, 1us}});
  ASSERT_EQ(played.arrivals.size(), 1U);
  EXPECT_EQ(played.arrivals[0].arrived, 1us + 1ms + 500ns);
  EXPECT_EQ(played.carried, Bytes(1'000'000));
}

TEST(Network, RouteAddsLatenciesButNotTransmissionTimes) {
  const Cluster star = make_cluster({make_level(LevelKind::switched, {4}, kRate, 500ns)});
  const Played played = play(star, {{0, 3, 1'000'000, 1us}});
  EXPECT_EQ(played.arrivals.at(0).arrived, 1us + 1ms + 1us);
  EXPECT_EQ(played.carried, Bytes(2'000'000)) << "up and down";
  EXPECT_EQ(played.switched, Bytes(1'000'000));
}

TEST(Network, TwoFlowsIntoOneLinkShareItEvenly) {
  const Cluster star = make_cluster({make_level(LevelKind::switched, {4}, kRate, 0ns)});
  const Played played = play(star, {{0, 3, 1'600'000, 1us}, {1, 3, 1'600'000, 1us}});
  ASSERT_EQ(played.arrivals.size(), 2U);
  const Picoseconds first = played.arrivals[0].arrived - 1us;
  const Picoseconds last = played.arrivals[1].arrived - 1us;
  EXPECT_GE(last, 3200us);
  EXPECT_LE(last, 3200us + 1us);
  EXPECT_GE(first, 3000us) << "neither goes before the other by more than a chunk";
}

TEST(Network, LateFlowGetsItsShareAtOnce) {
  const Cluster ring = make_cluster({make_level(LevelKind::ring, {4}, kRate, 0ns)});
  const Played played = play(ring, {{0, 1, 1'600'000, 1_ps}, {0, 1, 200'000, 800us}});
  ASSERT_EQ(played.arrivals.size(), 2U);
  EXPECT_EQ(played.arrivals[0].key.sequence, 1) << "the short one does not wait for the long one";
  EXPECT_LE(played.arrivals[0].arrived, 800us + 600us);
  EXPECT_NEAR(static_cast<double>(played.arrivals[1].arrived.count()), 1800e6, 1e3);
}

TEST(Network, OneMessageUsesItsShareOfParallelLinks) {
  Level nics = make_level(LevelKind::switched, {2}, kRate, 0ns);
  nics.links = 4;
  nics.links_per_message = 1;
  const Cluster cluster = make_cluster({nics});
  EXPECT_NEAR(static_cast<double>(play(cluster, {{0, 1, 1'000'000, 1_ps}}).arrivals.at(0).arrived.count()), 1e9, 5);
  const std::vector<Flow> four(4, {0, 1, 1'000'000, 1_ps});
  EXPECT_NEAR(static_cast<double>(play(cluster, four).arrivals.back().arrived.count()), 1e9, 5);
  const std::vector<Flow> eight(8, {0, 1, 1'000'000, 1_ps});
  EXPECT_NEAR(static_cast<double>(play(cluster, eight).arrivals.back().arrived.count()), 2e9, 50);
}

TEST(Network, MessageToItselfCrossesNoLink) {
  const Cluster ring = make_cluster({make_level(LevelKind::ring, {4}, kRate, 500ns)});
  const Played played = play(ring, {{2, 2, 1'000'000, 1us}});
  EXPECT_EQ(played.arrivals.at(0).arrived, 1us);
  EXPECT_EQ(played.carried, Bytes(0));
}

TEST(Network, IdealLinksTakeNoTimeAndStillCount) {
  const Cluster ring = make_cluster({make_level(LevelKind::ring, {4}, kRate, 500ns)});
  const Played played = play(ring, {{0, 2, 1'000'000, 1us}}, {.links = LinkModel::ideal});
  EXPECT_EQ(played.arrivals.at(0).arrived, 1us);
  EXPECT_EQ(played.carried, Bytes(2'000'000));
}

TEST(Network, ZeroBytesStillTakeTheLatency) {
  const Cluster ring = make_cluster({make_level(LevelKind::ring, {4}, kRate, 500ns)});
  EXPECT_EQ(play(ring, {{0, 1, 0, 1us}}).arrivals.at(0).arrived, 1500ns);
}

TEST(Network, SizesBeyond32BitsFinish) {
  const Cluster ring = make_cluster({make_level(LevelKind::ring, {2}, kRate, 0ns)});
  EXPECT_EQ(play(ring, {{0, 1, 12'935'233'536, 1_ps}}).arrivals.at(0).arrived, 12'935'233'536ns + 1_ps);
}

}  // namespace
}  // namespace tandem
