// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "workloads/mapping.h"

namespace tandem {
namespace {

TensorCores array(std::int64_t rows, std::int64_t cols, Dataflow dataflow) {
  TensorCores cores;
  cores.count = 1;
  cores.rows = rows;
  cores.cols = cols;
  cores.dataflow = dataflow;
  cores.macs_per_pe = {{DataType::bf16, 1.0}, {DataType::int8, 2.0}, {DataType::fp32, 0.25}};
  return cores;
}

TensorCores serial(std::int64_t rows, std::int64_t cols, Dataflow dataflow) {
  TensorCores cores = array(rows, cols, dataflow);
  cores.overlap_folds = false;
  return cores;
}

std::int64_t total(const TensorCores& cores, const TileShape& tile) {
  return tile_cycles(cores, DataType::bf16, tile).total.value();
}

// https://github.com/scalesim-project/SCALE-Sim/issues/125 and 60: 9 and 3 were reported, the last index.
TEST(TileCycles, CountsCyclesRatherThanTheLastIndex) {
  EXPECT_EQ(total(serial(4, 4, Dataflow::output_stationary), {4, 4, 4}), 10);
  EXPECT_EQ(total(serial(2, 2, Dataflow::output_stationary), {2, 2, 2}), 4);
}

// https://github.com/scalesim-project/SCALE-Sim/issues/59: one below, equal to and one above the array's edge.
TEST(TileCycles, StepsAtTheEdgeOfTheArray) {
  const TensorCores cores = serial(256, 256, Dataflow::weight_stationary);
  const std::int64_t fold = 2 * 256 + 256 + 256 - 2;
  EXPECT_EQ(total(cores, {256, 128, 256}), fold);
  EXPECT_EQ(total(cores, {255, 127, 255}), fold - 1);
  EXPECT_EQ(total(cores, {256, 255, 255}), fold);
  EXPECT_EQ(total(cores, {256, 256, 257}), 2 * fold);
  EXPECT_EQ(total(cores, {256, 257, 257}), 4 * fold);
}

TEST(TileCycles, OverlapShowsOnlyTheFirstFillAndTheLastDrain) {
  // Four folds that each stream 100 vectors; preload 8, skew 8 + 8 - 2.
  const TileCycles cycles = tile_cycles(array(8, 8, Dataflow::weight_stationary), DataType::bf16, {100, 16, 16});
  EXPECT_EQ(cycles.total.value(), 8 + 4 * 100 + 14);
  EXPECT_EQ(cycles.steady.value(), 4 * 100);
}

TEST(TileCycles, AShortStreamWaitsForTheNextPreload) {
  // One vector per fold: loading the next 8 rows takes longer.
  const TileCycles cycles = tile_cycles(array(8, 8, Dataflow::weight_stationary), DataType::bf16, {1, 16, 16});
  EXPECT_EQ(cycles.total.value(), 8 + 3 * 8 + 1 + 14);
  EXPECT_EQ(cycles.steady.value(), 4 * 8);
}

TEST(TileCycles, APartialFoldPaysItsOwnPart) {
  EXPECT_EQ(total(array(128, 128, Dataflow::weight_stationary), {100, 4, 3}), 3 + 100 + 3 + 4 - 2);
}

TEST(TileCycles, ArraysShareTheTile) {
  TensorCores cores = array(16, 16, Dataflow::weight_stationary);
  const TileCycles one = tile_cycles(cores, DataType::bf16, {128, 128, 64});
  cores.arrays = 4;
  const TileCycles four = tile_cycles(cores, DataType::bf16, {128, 128, 64});
  EXPECT_EQ(one.steady.value(), 4 * four.steady.value());
  EXPECT_EQ(one.ideal.value(), 4 * four.ideal.value());
  // One column of PEs' worth of n: the arrays take a quarter of m each.
  EXPECT_EQ(tile_cycles(cores, DataType::bf16, {128, 16, 16}).steady.value(), 32);
}

TEST(TileCycles, DataTypesStreamAtTheirOwnRate) {
  const TensorCores cores = array(8, 8, Dataflow::weight_stationary);
  EXPECT_EQ(tile_cycles(cores, DataType::int8, {64, 8, 8}).steady.value(), 32);
  EXPECT_EQ(tile_cycles(cores, DataType::fp32, {64, 8, 8}).steady.value(), 256);
  EXPECT_THROW(tile_cycles(cores, DataType::fp8, {64, 8, 8}), std::invalid_argument);
}

TEST(TileCycles, PartsAddUpForEveryShape) {
  for (const Dataflow dataflow :
       {Dataflow::weight_stationary, Dataflow::input_stationary, Dataflow::output_stationary}) {
    for (const bool overlap : {false, true}) {
      TensorCores cores = array(8, 4, dataflow);
      cores.overlap_folds = overlap;
      cores.arrays = 2;
      for (std::int64_t m = 1; m < 20; ++m) {
        for (std::int64_t n = 1; n < 20; ++n) {
          for (std::int64_t k = 1; k < 20; ++k) {
            const TileCycles cycles = tile_cycles(cores, DataType::bf16, {m, n, k});
            ASSERT_EQ(cycles.total, cycles.ideal + cycles.fill_drain + cycles.quantisation);
            ASSERT_EQ(cycles.ideal.value(), ceil_div(m * n * k, 64));
            ASSERT_GE(cycles.fill_drain.value(), 0);
            ASSERT_GE(cycles.quantisation.value(), 0);
            ASSERT_LE(cycles.steady, cycles.total);
            ASSERT_GE(cycles.steady, cycles.ideal);
          }
        }
      }
    }
  }
}

TEST(TileLocalTraffic, FollowsTheDataflow) {
  TensorCores cores = array(8, 8, Dataflow::weight_stationary);
  // A passes once per two folds of n, B once, C in fp32.
  EXPECT_EQ(tile_local_traffic(cores, DataType::bf16, {32, 16, 16}).value(), 2 * (32 * 16 * 2 + 16 * 16) + 4 * 32 * 16);
  cores.accumulators = false;
  // Written for each of the two folds of k, read back once.
  EXPECT_EQ(tile_local_traffic(cores, DataType::bf16, {32, 16, 16}).value(),
            2 * (32 * 16 * 2 + 16 * 16) + 3 * 4 * 32 * 16);
}

}  // namespace
}  // namespace tandem
