// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives.h"

#include <map>
#include <numeric>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace tandem {
namespace {

using enum CollectiveKind;
using Ranks = std::vector<std::int64_t>;

Level switched(std::int64_t members, double gigabytes, std::int64_t links = 1) {
  Level level;
  level.dims = {members};
  level.links = links;
  level.link_bandwidth = Bandwidth(gigabytes * 1e9);
  level.link_latency = Seconds(1e-6);
  level.links_per_message = links;
  return level;
}

Cluster nodes(std::int64_t count, std::int64_t per_node) {
  Cluster cluster;
  cluster.levels = {switched(per_node, 300), switched(count, 25, 8)};
  cluster.levels[1].links_per_message = 1;
  return cluster;
}

Cluster torus(std::vector<std::int64_t> dims, Seconds latency) {
  Cluster cluster;
  Level level;
  level.kind = dims.size() == 1 ? LevelKind::ring : LevelKind::torus2d;
  level.dims = std::move(dims);
  level.link_bandwidth = Bandwidth(100e9);
  level.link_latency = latency;
  cluster.levels = {level};
  return cluster;
}

Ranks first(std::int64_t n) {
  Ranks ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// For each rank and byte of its buffer, whose data is in it.
using Contents = std::vector<std::vector<std::multiset<int>>>;

/// Carries out steps on symbols. A send reads what its rank had when the step began.
Contents played(const CollectiveSteps& steps, Contents buffers) {
  for (const auto& step : steps) {
    const Contents before = buffers;
    for (const Send& send : step) {
      for (std::int64_t i = 0; i < send.bytes.value(); ++i) {
        const auto at = static_cast<std::size_t>(send.offset.value() + i);
        const auto& sent = before[static_cast<std::size_t>(send.from)][at];
        auto& got = buffers[static_cast<std::size_t>(send.to)][at];
        if (!send.reduce) got.clear();
        got.insert(sent.begin(), sent.end());
      }
    }
  }
  return buffers;
}

std::multiset<int> everybody(std::size_t n) {
  std::multiset<int> all;
  for (std::size_t i = 0; i < n; ++i) all.insert(static_cast<int>(i));
  return all;
}

struct Case {
  CollectiveKind kind;
  CollectiveAlgorithm algorithm;
  std::int64_t ranks;
};

class Steps : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::int64_t kBytes = 48;
  [[nodiscard]] CollectiveSteps steps(const Cluster& cluster) const {
    return collective_steps({GetParam().kind, Bytes(kBytes), GetParam().algorithm}, cluster, first(GetParam().ranks));
  }
  /// Each rank's buffer holds its own data.
  [[nodiscard]] Contents own_data() const {
    Contents buffers;
    for (int rank = 0; rank < GetParam().ranks; ++rank) {
      buffers.emplace_back(static_cast<std::size_t>(kBytes), std::multiset<int>{rank});
    }
    return buffers;
  }
};

void expect_result(const Case& param, const Contents& before, const Contents& result) {
  const auto n = static_cast<std::size_t>(param.ranks);
  const std::size_t bytes = result.front().size();
  switch (param.kind) {
    case all_reduce:
      for (const auto& buffer : result) {
        for (const auto& byte : buffer) ASSERT_EQ(byte, everybody(n));
      }
      break;
    case reduce_scatter: {
      // Every byte is complete somewhere, every rank has an equal share of them.
      std::set<std::size_t> complete;
      for (const auto& buffer : result) {
        std::size_t own = 0;
        for (std::size_t i = 0; i < bytes; ++i) {
          if (buffer[i] == everybody(n)) {
            ++own;
            complete.insert(i);
          }
        }
        ASSERT_NEAR(static_cast<double>(own), static_cast<double>(bytes) / static_cast<double>(n), 1.0);
      }
      ASSERT_EQ(complete.size(), bytes);
      break;
    }
    case broadcast:
      for (const auto& buffer : result) ASSERT_EQ(buffer, before.front());
      break;
    default: FAIL();
  }
}

TEST_P(Steps, HaveTheRightResultOnAnyMachine) {
  const Case& param = GetParam();
  for (const Cluster& cluster : {nodes(4, 4), nodes(8, 2), nodes(1, 16), torus({4, 4}, Seconds(1e-6))}) {
    if (param.kind == all_gather) continue;
    expect_result(param, own_data(), played(steps(cluster), own_data()));
  }
}

std::vector<Case> reductions() {
  std::vector<Case> cases;
  for (const CollectiveKind kind : {all_reduce, reduce_scatter, broadcast}) {
    for (const auto& [algorithm, name] : EnumNames<CollectiveAlgorithm>::values) {
      for (const std::int64_t ranks : {1, 2, 3, 4, 6, 7, 8, 12, 16}) {
        if (kind == broadcast || ranks > 1) cases.push_back({kind, algorithm, ranks});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, Steps, testing::ValuesIn(reductions()), [](const auto& test) {
  return std::string(name_of(test.param.kind)) + "_" + std::string(name_of(test.param.algorithm)) + "_" +
         std::to_string(test.param.ranks);
});

TEST(AllGather, CollectsEveryPart) {
  constexpr std::int64_t kBytes = 96;
  const Cluster cluster = nodes(4, 4);
  for (const auto& [algorithm, name] : EnumNames<CollectiveAlgorithm>::values) {
    for (const std::int64_t n : {2, 3, 4, 6, 8, 12, 16}) {
      Contents buffers(static_cast<std::size_t>(n), std::vector<std::multiset<int>>(kBytes));
      CollectiveAlgorithm used = algorithm;
      const Ranks ranks = first(n);
      if (used == CollectiveAlgorithm::automatic) used = choose_algorithm({all_gather, Bytes(kBytes)}, cluster, ranks);
      const bool by_level = used == CollectiveAlgorithm::hierarchical && n % 4 == 0;
      for (std::int64_t rank = 0; rank < n; ++rank) {
        // Part (position in node) * nodes + node where the levels are used, else the rank's own.
        const std::int64_t part = by_level ? rank % 4 * (n / 4) + rank / 4 : rank;
        for (std::int64_t i = part * kBytes / n; i < (part + 1) * kBytes / n; ++i) {
          buffers[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)] = {static_cast<int>(part)};
        }
      }
      const Contents result = played(collective_steps({all_gather, Bytes(kBytes), algorithm}, cluster, ranks), buffers);
      for (const auto& buffer : result) {
        for (std::int64_t i = 0; i < kBytes; ++i) {
          const auto& byte = buffer[static_cast<std::size_t>(i)];
          ASSERT_EQ(byte.size(), 1U) << name << ' ' << n;
          const std::int64_t part = *byte.begin();
          ASSERT_TRUE(i >= part * kBytes / n && i < (part + 1) * kBytes / n);
        }
      }
    }
  }
}

TEST(AllToAll, GivesEveryPairItsPart) {
  for (const auto& [algorithm, name] : EnumNames<CollectiveAlgorithm>::values) {
    const std::int64_t n = 6;
    std::map<std::pair<int, int>, std::int64_t> moved;
    for (const auto& step : collective_steps({all_to_all, Bytes(600), algorithm}, nodes(3, 2), first(n))) {
      for (const Send& send : step) {
        moved[{send.from, send.to}] += send.bytes.value();
        EXPECT_GE(send.offset.value(), send.to * 100);
        EXPECT_LE((send.offset + send.bytes).value(), (send.to + 1) * 100);
      }
    }
    EXPECT_EQ(moved.size(), 30U);
    for (const auto& [pair, bytes] : moved) EXPECT_EQ(bytes, 100);
  }
}

TEST(SendRecv, GoesToTheNext) {
  const auto steps = collective_steps({send_recv, Bytes(100)}, nodes(2, 2), first(4));
  ASSERT_EQ(steps.size(), 1U);
  ASSERT_EQ(steps[0].size(), 4U);
  EXPECT_EQ(steps[0][3].to, 0);
}

TEST(CollectiveSteps, RingMovesTheLeast) {
  for (const CollectiveKind kind : {all_reduce, reduce_scatter, all_gather}) {
    const Collective ring{kind, Bytes(800), CollectiveAlgorithm::ring};
    std::int64_t sent = 0;
    for (const auto& step : collective_steps(ring, nodes(1, 8), first(8))) {
      for (const Send& send : step) sent += send.from == 3 ? send.bytes.value() : 0;
    }
    EXPECT_EQ(sent, bytes_sent_per_rank(ring, 8).value());
  }
}

TEST(CollectiveSteps, WhatLeavesANodeIsCutToReachAllItsLinks) {
  const auto steps = collective_steps({send_recv, Bytes(1 << 20)}, nodes(2, 2), Ranks{1, 2});
  EXPECT_EQ(steps[0].size(), 2U);  // point to point stays whole
  const auto ring = collective_steps({all_reduce, Bytes(1 << 20), CollectiveAlgorithm::ring}, nodes(2, 2), first(4));
  std::int64_t crossing = 0;
  for (const Send& send : ring[0]) crossing += send.from == 1 ? 1 : 0;
  EXPECT_EQ(crossing, 8);
}

TEST(CollectiveTime, RingOnOneSwitchIsAlphaBeta) {
  Cluster cluster = nodes(1, 8);
  cluster.overhead = {Seconds(10e-6), Seconds(1e-6), Seconds(2e-6)};
  const double time =
      collective_time({all_reduce, Bytes(800'000'000), CollectiveAlgorithm::ring}, cluster, first(8)).count();
  EXPECT_NEAR(time, 10e-6 + 14 * (1e-6 + 2e-6 + 0.1e9 / 300e9), 1e-12);
}

TEST(CollectiveTime, ARingOverNodesIsBoundByTheirLinks) {
  const Cluster cluster = nodes(2, 8);
  const double bytes = 16e9;
  const double time =
      collective_time({all_reduce, Bytes(16'000'000'000), CollectiveAlgorithm::ring}, cluster, first(16)).count();
  const double crossing = 2 * 15.0 / 16 * bytes / 200e9;  // all eight links of a node, once each way
  EXPECT_GE(time, crossing);
  EXPECT_LE(time, crossing * 1.001);
}

TEST(CollectiveTime, GroupsOfANodeShareItsLinks) {
  const Cluster cluster = nodes(4, 8);
  std::vector<Ranks> groups;
  for (std::int64_t gpu = 0; gpu < 8; ++gpu) groups.push_back({gpu, gpu + 8, gpu + 16, gpu + 24});
  const Collective reduce{all_reduce, Bytes(1'000'000'000), CollectiveAlgorithm::ring};
  const double alone = collective_time(reduce, cluster, groups.front()).count();
  const double together = collective_time(reduce, cluster, groups).count();
  EXPECT_NEAR(together / alone, 8, 0.02);
}

// https://github.com/astra-sim/astra-sim/issues/150: 1.875 S bytes and 16 steps, whichever dimension comes first.
TEST(CollectiveTime, SwappingTwoEqualRingDimensionsChangesNothing) {
  const Collective reduce{all_reduce, Bytes(1 << 24), CollectiveAlgorithm::hierarchical};
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{2, 8}, {8, 2}}) {
    const Cluster cluster = torus(dims, Seconds(1e-6));
    const auto steps = collective_steps(reduce, cluster, first(16));
    EXPECT_EQ(steps.size(), 16U);
    std::int64_t sent = 0;
    for (const auto& step : steps) {
      for (const Send& send : step) sent += send.from == 5 ? send.bytes.value() : 0;
    }
    EXPECT_DOUBLE_EQ(static_cast<double>(sent), 1.875 * (1 << 24));
  }
  // Two neighbours share one link each way, a longer ring has one in each direction: rings of 4 and 8 differ in length
  // alone, and then the order changes nothing.
  const auto time = [&](std::vector<std::int64_t> dims) {
    return collective_time(reduce, torus(std::move(dims), Seconds(1e-6)), first(32)).count();
  };
  EXPECT_NEAR(time({4, 8}), time({8, 4}), 1e-12);
}

// https://github.com/aliyun/SimAI/pull/127: byte counters of 32 bits overflowed.
TEST(CollectiveTime, HugeMessagesDoNotOverflow) {
  Cluster cluster;
  cluster.levels = {switched(2, 360), switched(2, 12.5)};
  const Ranks across{0, 2};
  EXPECT_GE(collective_time({reduce_scatter, Bytes(12'935'233'536)}, cluster, across).count(), 0.517);
  EXPECT_GE(collective_time({all_gather, Bytes(6'467'616'768)}, cluster, across).count(), 0.258);
  EXPECT_LT(collective_time({reduce_scatter, Bytes(12'935'233'536)}, cluster, across).count(), 0.53);
}

TEST(CollectiveTime, AGroupOfOneTakesNoTime) {
  EXPECT_EQ(collective_time({all_reduce, Bytes(100)}, nodes(2, 2), Ranks{3}).count(), 0);
  EXPECT_TRUE(collective_steps({all_reduce, Bytes(100)}, nodes(2, 2), Ranks{3}).empty());
}

TEST(ChooseAlgorithm, TakesTheLeastTime) {
  const Cluster cluster = nodes(4, 8);
  for (const std::int64_t bytes : {8, 1 << 16, 1 << 28}) {
    Collective reduce{all_reduce, Bytes(bytes)};
    const double best = collective_time(reduce, cluster, first(32)).count();
    for (const auto& [algorithm, name] : EnumNames<CollectiveAlgorithm>::values) {
      if (algorithm == CollectiveAlgorithm::direct) continue;  // not beyond 16 ranks
      reduce.algorithm = algorithm;
      EXPECT_LE(best, collective_time(reduce, cluster, first(32)).count()) << name;
    }
  }
}

TEST(SendTime, UsesOneLinkOfTheNode) {
  Cluster cluster = nodes(2, 8);
  cluster.overhead.send = Seconds(5e-6);
  EXPECT_NEAR(send_time(Bytes(25'000'000), cluster, 0, 8).count(), 5e-6 + 2e-6 + 1e-3, 1e-12);
}

}  // namespace
}  // namespace tandem
