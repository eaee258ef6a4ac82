// SPDX-License-Identifier: Apache-2.0
// Collective times against the textbook alpha-beta figures that accompany runs of ASTRA-sim (analytical backend; 50
// GiB/s links of 500 ns, a switch is two hops; times in whole nanoseconds).
#include <numeric>

#include <gtest/gtest.h>

#include "workloads/collectives.h"

namespace tandem {
namespace {

struct Row {
  CollectiveKind kind;
  CollectiveAlgorithm algorithm;
  LevelKind level;
  std::int64_t ranks;
  std::int64_t bytes;
  double nanoseconds;
};

class AstraSim : public testing::TestWithParam<Row> {};

TEST_P(AstraSim, AlphaBetaAgrees) {
  const Row& row = GetParam();
  Level level;
  level.kind = row.level;
  level.dims = {row.ranks};
  level.link_bandwidth = Bandwidth(50.0 * 1024 * 1024 * 1024);
  level.link_latency = Seconds(500e-9);
  Cluster cluster;
  cluster.levels = {level};
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(row.ranks));
  std::iota(ranks.begin(), ranks.end(), 0);
  const Seconds time = collective_time({row.kind, Bytes(row.bytes), row.algorithm}, cluster, ranks);
  EXPECT_NEAR(time.count() * 1e9, row.nanoseconds, 1.0);
}

using enum CollectiveKind;
using enum CollectiveAlgorithm;

INSTANTIATE_TEST_SUITE_P(Published, AstraSim,
                         testing::Values(Row{all_reduce, ring, LevelKind::ring, 8, 1024, 7033},
                                         Row{all_reduce, ring, LevelKind::ring, 8, 1073741824, 35007000},
                                         Row{reduce_scatter, ring, LevelKind::ring, 8, 16777216, 276938},
                                         Row{all_reduce, ring, LevelKind::fully_connected, 16, 67108864, 2358750},
                                         Row{all_reduce, ring, LevelKind::switched, 4, 67108864, 1881000},
                                         Row{all_reduce, direct, LevelKind::fully_connected, 4, 67108864, 626000},
                                         Row{all_reduce, direct, LevelKind::switched, 16, 67108864, 2345750},
                                         Row{all_reduce, halving_doubling, LevelKind::switched, 16, 67108864, 2351750},
                                         Row{all_to_all, direct, LevelKind::fully_connected, 4, 16777216, 78625},
                                         Row{all_to_all, direct, LevelKind::switched, 16, 16777216, 293969}));

}  // namespace
}  // namespace tandem
