// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/collective_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sim/kernel/context.h"
#include "sim/simulate.h"
#include "tests/unit/sim_cluster/cases.h"

namespace tandem {
namespace {

using namespace testing;
using ::testing::HasSubstr;

std::vector<std::int64_t> first_ranks(std::int64_t n) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

class Ends : public CollectiveClient {
 public:
  void collective_done(const CollectiveOutcome& outcome) override {
    outcomes.push_back(outcome);
    last = simulated_now();
  }
  std::vector<CollectiveOutcome> outcomes;
  Picoseconds last{};
};

constexpr Collective kGather{CollectiveKind::all_gather, Bytes(1024), CollectiveAlgorithm::ring};
constexpr Collective kReduce{CollectiveKind::all_reduce, Bytes(1024), CollectiveAlgorithm::ring};

Cluster eight_ring() { return make_cluster({make_level(LevelKind::ring, {8}, 50e9, 500ns)}); }

TEST(CollectiveEngine, RingOnARingEqualsItsClosedForm) {
  Cluster cluster = make_cluster({make_level(LevelKind::ring, {8}, 50e9, 1us)});
  cluster.overhead = {.collective = 20us, .step = 2us, .send = 0s};
  const auto ranks = first_ranks(8);
  const Picoseconds time =
      simulate_collective(cluster, ranks, {CollectiveKind::all_reduce, Bytes(80'000'000), CollectiveAlgorithm::ring});
  // 14 steps of 2 us software, 10 MB at 50 GB/s and 1 us of latency; Thakur et al., section 4.3.
  EXPECT_EQ(time, 20us + 14 * (2us + 200us + 1us));
}

struct ClosedFormCase {
  const char* name;
  LevelKind kind;
  std::vector<std::int64_t> dims;
  CollectiveKind collective;
  CollectiveAlgorithm algorithm;
};

class UncontendedCollective : public ::testing::TestWithParam<ClosedFormCase> {};

TEST_P(UncontendedCollective, EqualsTheClosedForm) {
  const ClosedFormCase& given = GetParam();
  Cluster cluster = make_cluster({make_level(given.kind, given.dims, 50e9, 1us)});
  cluster.overhead = {.collective = 20us, .step = 2us, .send = 0s};
  const auto ranks = first_ranks(cluster.devices());
  const Collective collective{given.collective, Bytes(64'000'000), given.algorithm};
  const auto closed = static_cast<double>(to_picoseconds(collective_time(collective, cluster, ranks)).count());
  const auto simulated = static_cast<double>(simulate_collective(cluster, ranks, collective).count());
  EXPECT_NEAR(simulated / closed, 1, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, UncontendedCollective,
    ::testing::Values(
        ClosedFormCase{"ring_all_gather", LevelKind::ring, {6}, CollectiveKind::all_gather, CollectiveAlgorithm::ring},
        ClosedFormCase{"ring_both_ways",
                       LevelKind::ring,
                       {8},
                       CollectiveKind::all_reduce,
                       CollectiveAlgorithm::bidirectional_ring},
        ClosedFormCase{"switch_ring", LevelKind::switched, {8}, CollectiveKind::all_reduce, CollectiveAlgorithm::ring},
        ClosedFormCase{"switch_halving",
                       LevelKind::switched,
                       {8},
                       CollectiveKind::all_reduce,
                       CollectiveAlgorithm::halving_doubling},
        ClosedFormCase{
            "switch_all_to_all", LevelKind::switched, {8}, CollectiveKind::all_to_all, CollectiveAlgorithm::ring},
        ClosedFormCase{"connected_direct",
                       LevelKind::fully_connected,
                       {4},
                       CollectiveKind::all_reduce,
                       CollectiveAlgorithm::direct},
        ClosedFormCase{"torus_hierarchical",
                       LevelKind::torus2d,
                       {4, 4},
                       CollectiveKind::all_reduce,
                       CollectiveAlgorithm::hierarchical}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(CollectiveEngine, OverlappingGroupsComplete) {
  // Members 4 to 7 also reduce in a group of their own, first (ASTRA-sim issue 339).
  const Cluster cluster = eight_ring();
  CollectivePlans plans(cluster, {{"all", first_ranks(8)}, {"half", {4, 5, 6, 7}}});
  Wiring wiring(cluster);
  Ends ends;
  const SimulationContext context;
  Network network("network", wiring, {});
  CollectiveEngine engine("engine", cluster.overhead, network, plans);
  for (std::int32_t member = 0; member < 4; ++member) engine.join(1, member, kReduce, ends, 1);
  for (std::int32_t member = 0; member < 8; ++member) engine.join(0, member, kGather, ends, 0);
  sc_core::sc_start();
  EXPECT_EQ(ends.outcomes.size(), 12U);
  EXPECT_TRUE(engine.unfinished().empty());
  EXPECT_GE(ends.last, 7 * (500ns + 128 * 20_ps));
}

TEST(CollectiveEngine, MissingMembersAreNamed) {
  const Cluster cluster = eight_ring();
  CollectivePlans plans(cluster, {{"all", first_ranks(8)}});
  Wiring wiring(cluster);
  Ends ends;
  const SimulationContext context;
  Network network("network", wiring, {});
  CollectiveEngine engine("engine", cluster.overhead, network, plans);
  for (std::int32_t member = 0; member < 6; ++member) engine.join(0, member, kGather, ends, 0);
  sc_core::sc_start();
  ASSERT_EQ(engine.unfinished().size(), 1U);
  EXPECT_THAT(engine.unfinished()[0], HasSubstr("all: devices 0, 1, 2, 3, 4, 5 wait for devices 6, 7"));
}

TEST(CollectiveEngine, DifferentCallsAtOnePlaceAreRefused) {
  const Cluster cluster = eight_ring();
  CollectivePlans plans(cluster, {{"all", first_ranks(8)}});
  Wiring wiring(cluster);
  Ends ends;
  const SimulationContext context;
  Network network("network", wiring, {});
  CollectiveEngine engine("engine", cluster.overhead, network, plans);
  engine.join(0, 0, kGather, ends, 0);
  engine.join(0, 1, kGather, ends, 0);
  try {
    engine.join(0, 2, kReduce, ends, 0);
    FAIL() << "accepted";
  } catch (const CollectiveMismatch& mismatch) {
    EXPECT_THAT(mismatch.what(), HasSubstr("device 2 calls all_reduce of 1 KiB"));
    EXPECT_THAT(mismatch.what(), HasSubstr("devices 0, 1 called all_gather of 1 KiB"));
  }
}

TEST(CollectiveEngine, LateMemberDelaysOnlyWhatNeedsIt) {
  const Cluster cluster = make_cluster({make_level(LevelKind::switched, {4}, 50e9, 1us)});
  CollectivePlans plans(cluster, {{"all", first_ranks(4)}});
  Wiring wiring(cluster);
  Ends ends;
  const SimulationContext context;
  Network network("network", wiring, {});
  CollectiveEngine engine("engine", cluster.overhead, network, plans);
  for (std::int32_t member = 0; member < 3; ++member) engine.join(0, member, kGather, ends, 0);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_MS));
  EXPECT_TRUE(ends.outcomes.empty());
  engine.join(0, 3, kGather, ends, 0);
  sc_core::sc_start();
  ASSERT_EQ(ends.outcomes.size(), 4U);
  EXPECT_EQ(ends.outcomes[0].last_join, 1ms);
  EXPECT_GT(ends.last, 1ms);
  EXPECT_LT(ends.last, 1ms + 3 * (2us + 10ns));
}

TEST(CollectiveEngine, FlowEndsItsTimeAfterTheLastMemberCame) {
  const Cluster cluster = eight_ring();
  CollectivePlans plans(cluster, {{"all", first_ranks(8)}});
  Wiring wiring(cluster);
  Ends ends;
  const SimulationContext context;
  Network network("network", wiring, {});
  CollectiveEngine engine("engine", cluster.overhead, network, plans, [](std::int32_t, const Collective&) {
    return std::optional(CollectiveTime{.time = 50us, .software = 3us});
  });
  for (std::int32_t member = 0; member < 7; ++member) engine.join(0, member, kGather, ends, 0);
  engine.join(0, 7, kGather, ends, 0);
  for (std::int32_t member = 0; member < 8; ++member) engine.join(0, member, kGather, ends, 0);
  sc_core::sc_start();
  ASSERT_EQ(ends.outcomes.size(), 16U);
  EXPECT_EQ(ends.last, 50us);
  EXPECT_EQ(ends.outcomes[0].software, 3us);
  EXPECT_EQ(network.messages(), 0);
  ASSERT_EQ(engine.flows().size(), 1U);
  EXPECT_EQ(engine.flows()[0].times, 2);
  EXPECT_TRUE(engine.unfinished().empty());
}

TEST(SimulateCollective, BytesBeyond32BitsTakeTheirTime) {
  // SimAI pull request 127: 12,935,233,536 B over 12.5 GB/s links between two.
  const Cluster cluster = make_cluster({make_level(LevelKind::switched, {2}, 12.5e9, 1us)});
  const Picoseconds time = simulate_collective(
      cluster, first_ranks(2), {CollectiveKind::reduce_scatter, Bytes(12'935'233'536), CollectiveAlgorithm::ring});
  EXPECT_GE(to_seconds(time).count(), 12935233536.0 / 2 / 12.5e9);
  EXPECT_LE(to_seconds(time).count(), 12935233536.0 / 2 / 12.5e9 + 1e-3);
}

TEST(SimulateCollective, GroupOfOneIsFree) {
  EXPECT_EQ(simulate_collective(eight_ring(), first_ranks(1), kReduce), 0_ps);
}

}  // namespace
}  // namespace tandem
