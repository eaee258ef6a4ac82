// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "workloads/mapping.h"

namespace tandem {
namespace {

Operator matmul(const MatmulShape& shape) {
  Operator op;
  op.matmul = shape;
  const auto bytes = [&](std::int64_t rows, std::int64_t cols) { return Bytes(2 * shape.batch * rows * cols); };
  op.inputs = {{bytes(shape.m, shape.k), Residency::hbm, false}, {bytes(shape.k, shape.n), Residency::hbm, true}};
  op.outputs = {{bytes(shape.m, shape.n), Residency::hbm, false}};
  return op;
}

/// Plays the block loops as they are defined and counts every load and every eviction of partial sums.
MatmulTraffic played(const Operator& op, const MatmulMapping& mapping) {
  const auto trips = loop_trips(op, mapping).blocks;
  const auto count = [&](Dim d) { return d == Dim::m ? trips.m : d == Dim::n ? trips.n : trips.k; };
  const auto size = [](std::int64_t whole, std::int64_t block, std::int64_t i) {
    return std::min(block, whole - i * block);
  };
  std::int64_t read = 0;
  std::int64_t write = 0;
  for (std::int64_t batch = 0; batch < op.matmul.batch; ++batch) {
    std::array<std::int64_t, 2> a{-1, -1};
    std::array<std::int64_t, 2> b{-1, -1};
    std::array<std::int64_t, 2> c{-1, -1};
    std::int64_t c_elements = 0;
    std::vector<std::int64_t> done(static_cast<std::size_t>(trips.m * trips.n), 0);
    const auto evict = [&] {
      if (c[0] < 0) return;
      const std::int64_t k_done = done[static_cast<std::size_t>(c[0] * trips.n + c[1])];
      write += (k_done == trips.k ? 2 : 4) * c_elements;
    };
    std::array<std::int64_t, 3> at{};
    for (at[0] = 0; at[0] < count(mapping.order[0]); ++at[0]) {
      for (at[1] = 0; at[1] < count(mapping.order[1]); ++at[1]) {
        for (at[2] = 0; at[2] < count(mapping.order[2]); ++at[2]) {
          std::array<std::int64_t, 3> index{};
          for (std::size_t i = 0; i < 3; ++i) index[static_cast<std::size_t>(mapping.order[i])] = at[i];
          const auto [m, n, k] = index;
          const std::int64_t bm = size(op.matmul.m, mapping.block.m, m);
          const std::int64_t bn = size(op.matmul.n, mapping.block.n, n);
          const std::int64_t bk = size(op.matmul.k, mapping.block.k, k);
          if (a != std::array{m, k}) read += 2 * bm * bk;
          if (b != std::array{k, n}) read += 2 * bk * bn;
          if (c != std::array{m, n}) {
            evict();
            c = {m, n};
            c_elements = bm * bn;
            if (done[static_cast<std::size_t>(m * trips.n + n)] > 0) read += 4 * c_elements;
          }
          ++done[static_cast<std::size_t>(m * trips.n + n)];
          a = {m, k};
          b = {k, n};
        }
      }
    }
    evict();
  }
  return {Bytes(read), Bytes(write), {}, {}, {}, {}};
}

TEST(MatmulTraffic, EqualsTheLoopsPlayedOut) {
  const Operator op = matmul({2, 100, 60, 90});
  std::array<Dim, 3> order{Dim::m, Dim::n, Dim::k};
  do {
    for (const std::int64_t m : {100, 33}) {
      for (const std::int64_t n : {60, 16}) {
        for (const std::int64_t k : {90, 32}) {
          MatmulMapping mapping;
          mapping.block = {m, n, k};
          mapping.tile = {16, 16, 16};
          mapping.order = order;
          const MatmulTraffic closed = matmul_traffic(op, mapping);
          const MatmulTraffic loops = played(op, mapping);
          EXPECT_EQ(closed.hbm_read, loops.hbm_read) << m << ' ' << n << ' ' << k;
          EXPECT_EQ(closed.hbm_write, loops.hbm_write) << m << ' ' << n << ' ' << k;
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(MatmulTraffic, WholeOperandsAreReadOnce) {
  const Operator op = matmul({1, 100, 60, 90});
  MatmulMapping mapping;
  mapping.block = {100, 60, 90};
  mapping.tile = {32, 32, 32};
  const MatmulTraffic traffic = matmul_traffic(op, mapping);
  EXPECT_EQ(traffic.hbm_read, op.inputs[0].bytes + op.inputs[1].bytes);
  EXPECT_EQ(traffic.hbm_write, op.outputs[0].bytes);
  // Multicast: each tile row and column leaves the buffer once; every one of 4 x 2 tiles takes in its own.
  EXPECT_EQ(traffic.core_read, traffic.hbm_read);
  EXPECT_EQ(traffic.port_read, op.inputs[0].bytes * 2 + op.inputs[1].bytes * 4);
}

TEST(MatmulTraffic, WithoutMulticastEveryTileIsReadByItself) {
  const Operator op = matmul({1, 128, 64, 32});
  MatmulMapping mapping;
  mapping.block = {128, 64, 32};
  mapping.tile = {32, 32, 32};
  Noc noc;
  noc.multicast = false;
  const MatmulTraffic traffic = matmul_traffic(op, mapping, noc, 8);
  EXPECT_EQ(traffic.core_read, traffic.port_read);
}

TEST(MatmulTraffic, AWaveThatBeginsInsideARowSendsTheRowAgain) {
  const Operator op = matmul({1, 128, 96, 32});  // 4 x 3 tiles of 32 x 32
  MatmulMapping mapping;
  mapping.block = {128, 96, 32};
  mapping.tile = {32, 32, 32};
  const Noc noc;
  const std::int64_t strip = 2 * 32 * 32;
  // Six cores: two waves of two whole rows. Four cores: waves touch rows 0-1, 1-2, 2-3.
  EXPECT_EQ(matmul_traffic(op, mapping, noc, 6).core_read.value(), strip * (4 + 2 * 3));
  EXPECT_EQ(matmul_traffic(op, mapping, noc, 4).core_read.value(), strip * (6 + 3 * 3));
}

TEST(MatmulTraffic, ResidentOperandsCostNothingAbove) {
  Operator op = matmul({1, 64, 64, 64});
  MatmulMapping mapping;
  mapping.block = {64, 64, 64};
  mapping.tile = {64, 64, 64};
  op.inputs[0].where = Residency::global_buffer;
  op.inputs[1].where = Residency::core;
  op.outputs[0].where = Residency::core;
  const MatmulTraffic traffic = matmul_traffic(op, mapping);
  EXPECT_EQ(traffic.hbm_read + traffic.hbm_write, Bytes(0));
  EXPECT_EQ(traffic.core_read, op.inputs[0].bytes);
  EXPECT_EQ(traffic.core_write, Bytes(0));
}

TEST(MatmulTraffic, SplitKReturnsPartialSums) {
  const Operator op = matmul({1, 64, 64, 256});
  MatmulMapping mapping;
  mapping.block = {64, 64, 256};
  mapping.tile = {64, 64, 64};
  mapping.split_k = 4;
  const MatmulTraffic traffic = matmul_traffic(op, mapping);
  EXPECT_EQ(traffic.core_write.value(), 2 * 64 * 64 + 3 * 4 * 64 * 64);
}

// https://github.com/NVlabs/timeloop/issues/187: loop factors must make up the problem.
TEST(LoopTrips, CoverTheProblemExactly) {
  const Operator op = matmul({3, 3, 5, 7});
  MatmulMapping mapping;
  mapping.block = {2, 4, 7};
  mapping.tile = {2, 3, 2};
  const LoopTrips trips = loop_trips(op, mapping);
  EXPECT_EQ(trips.blocks, (TileShape{2, 2, 1}));
  EXPECT_EQ(trips.tiles, (TileShape{1, 2, 4}));
  // m: 2 + 1; n: 3 + 1 + 1 (edges of both levels): 2 x 3 output tiles in each of 3 batch elements.
  EXPECT_EQ(task_count(op, mapping, 4), 3 * 2 * 3);
}

TEST(Causal, OnlyTilesThatTouchTheLowerTriangleAreNeeded) {
  Operator op = matmul({1, 64, 64, 16});
  op.causal = true;
  MatmulMapping mapping;
  mapping.block = {64, 32, 16};
  mapping.tile = {16, 16, 16};
  EXPECT_EQ(task_count(op, mapping, 64), 4 + 3 + 2 + 1);
  std::int64_t needed = 0;
  for (std::int64_t m = 0; m < 64; m += 16) {
    for (std::int64_t n = 0; n < 64; n += 16) needed += is_masked(op, m, n, 0, mapping.tile) ? 0 : 1;
  }
  EXPECT_EQ(needed, 10);
  EXPECT_DOUBLE_EQ(needed_share(op, mapping), 10.0 / 16.0);
}

TEST(Causal, APartOfTheQueriesScalesTheDiagonal) {
  Operator op = matmul({1, 32, 16, 64});  // values of 32 queries over 64 keys
  op.causal = true;
  op.causal_keys = 64;
  MatmulMapping mapping;
  mapping.block = {32, 16, 64};
  mapping.tile = {8, 16, 16};
  EXPECT_DOUBLE_EQ(needed_share(op, mapping), 10.0 / 16.0);
  EXPECT_EQ(task_count(op, mapping, 64), 4);
  EXPECT_TRUE(is_masked(op, 0, 0, 16, mapping.tile));
  EXPECT_FALSE(is_masked(op, 8, 0, 16, mapping.tile));
}

TEST(OutputStaysInCore, OnlyIfEveryTaskHasItsOwnCore) {
  const Operator op = matmul({1, 64, 64, 256});
  MatmulMapping mapping;
  mapping.block = {64, 64, 64};
  mapping.tile = {32, 32, 64};
  EXPECT_TRUE(output_stays_in_core(op, mapping, 4));
  EXPECT_FALSE(output_stays_in_core(op, mapping, 3));
  mapping.block.m = 32;
  mapping.order = {Dim::k, Dim::m, Dim::n};
  EXPECT_FALSE(output_stays_in_core(op, mapping, 4));
  mapping.block.k = 256;
  EXPECT_TRUE(output_stays_in_core(op, mapping, 1));
}

TEST(BufferNeeds, DoubleWhatChangesInUse) {
  const Operator op = matmul({1, 64, 64, 256});
  MatmulMapping mapping;
  mapping.block = {32, 64, 256};
  mapping.tile = {32, 32, 64};
  // Two m blocks: A and C change, B stays.
  EXPECT_EQ(global_buffer_needed(op, mapping, 4).value(), 2 * 2 * 32 * 256 + 2 * 256 * 64 + 2 * 2 * 32 * 64);
  EXPECT_EQ(local_buffer_needed(op, mapping).value(), 2 * 2 * (32 * 64 + 64 * 32) + 4 * 32 * 32);
  mapping.double_buffer = false;
  EXPECT_EQ(local_buffer_needed(op, mapping).value(), 2 * (32 * 64 + 64 * 32) + 4 * 32 * 32);
}

}  // namespace
}  // namespace tandem
