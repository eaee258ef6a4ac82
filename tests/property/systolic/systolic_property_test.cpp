// SPDX-License-Identifier: Apache-2.0
// What holds of any systolic array, whatever its shape, dataflow and options.
#include <gtest/gtest.h>

#include <random>

#include "workloads/array_accesses.h"

namespace tandem {
namespace {

constexpr int kCases = 3000;

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  std::int64_t up_to(std::int64_t most) {
    return 1 + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most));
  }
  /// Often near a multiple of `edge`, often one.
  std::int64_t extent(std::int64_t edge) {
    const std::int64_t kind = up_to(4);
    if (kind == 1) return 1;
    if (kind == 2) return std::max<std::int64_t>(1, edge * up_to(4) + up_to(3) - 2);
    return up_to(kind == 3 ? edge : 700);
  }
  TensorCores cores() {
    TensorCores cores;
    cores.count = 1;
    cores.rows = up_to(up_to(2) == 1 ? 4 : 64);
    cores.cols = up_to(up_to(2) == 1 ? 4 : 64);
    cores.dataflow = static_cast<Dataflow>(up_to(3) - 1);
    cores.overlap_folds = up_to(2) == 1;
    cores.accumulators = up_to(2) == 1;
    cores.macs_per_pe = {{DataType::int8, 1.0}};
    return cores;
  }
  TileShape tile(const TensorCores& cores) { return {extent(cores.rows), extent(cores.cols), extent(cores.rows)}; }

 private:
  std::mt19937_64 engine_;
};

std::int64_t cycles(const TensorCores& cores, const TileShape& tile) {
  return tile_cycles(cores, DataType::int8, tile).total.value();
}

std::string text(const TensorCores& cores, const TileShape& tile) {
  return std::to_string(cores.rows) + "x" + std::to_string(cores.cols) + " dataflow " +
         std::to_string(static_cast<int>(cores.dataflow)) + (cores.overlap_folds ? " overlap " : " serial ") +
         std::to_string(tile.m) + "," + std::to_string(tile.n) + "," + std::to_string(tile.k);
}

TEST(Systolic, NeverFasterThanItsMacsNorBusierThanItsElements) {
  Draw draw(1);
  for (int i = 0; i < kCases; ++i) {
    const TensorCores cores = draw.cores();
    const TileShape tile = draw.tile(cores);
    const TileCycles time = tile_cycles(cores, DataType::int8, tile);
    const std::int64_t macs = tile.m * tile.n * tile.k;
    ASSERT_GE(time.total.value() * cores.rows * cores.cols, macs) << text(cores, tile);
    ASSERT_GE(time.steady.value() * cores.rows * cores.cols, macs) << text(cores, tile);
    ASSERT_EQ(time.total, time.ideal + time.fill_drain + time.quantisation) << text(cores, tile);
    ASSERT_LE(time.steady, time.total) << text(cores, tile);
  }
}

TEST(Systolic, MoreWorkNeverTakesLess) {
  Draw draw(2);
  for (int i = 0; i < kCases; ++i) {
    const TensorCores cores = draw.cores();
    const TileShape tile = draw.tile(cores);
    const std::int64_t more = draw.up_to(2 * cores.rows);
    const std::int64_t base = cycles(cores, tile);
    ASSERT_LE(base, cycles(cores, {tile.m + more, tile.n, tile.k})) << text(cores, tile) << " m +" << more;
    ASSERT_LE(base, cycles(cores, {tile.m, tile.n + more, tile.k})) << text(cores, tile) << " n +" << more;
    ASSERT_LE(base, cycles(cores, {tile.m, tile.n, tile.k + more})) << text(cores, tile) << " k +" << more;
  }
}

TEST(Systolic, OverlapNeverCosts) {
  Draw draw(3);
  for (int i = 0; i < kCases; ++i) {
    TensorCores cores = draw.cores();
    const TileShape tile = draw.tile(cores);
    cores.overlap_folds = true;
    const std::int64_t overlapped = cycles(cores, tile);
    cores.overlap_folds = false;
    ASSERT_LE(overlapped, cycles(cores, tile)) << text(cores, tile);
  }
}

/// Every fold one after another: when its stream starts, and when its last result is out.
std::int64_t fold_by_fold(const TensorCores& cores, const TileShape& tile) {
  const bool holds_outputs = cores.dataflow == Dataflow::output_stationary;
  const bool holds_weights = cores.dataflow == Dataflow::weight_stationary;
  const std::int64_t held_rows = holds_outputs ? tile.m : tile.k;
  const std::int64_t held_cols = holds_outputs || holds_weights ? tile.n : tile.m;
  const std::int64_t stream = holds_outputs ? tile.k : holds_weights ? tile.m : tile.n;
  std::int64_t start = -1, end = 0, rows_before = 0;
  for (std::int64_t col = 0; col < held_cols; col += cores.cols) {
    for (std::int64_t row = 0; row < held_rows; row += cores.rows) {
      const std::int64_t rows = std::min(cores.rows, held_rows - row), cols = std::min(cores.cols, held_cols - col);
      if (start < 0) {
        start = holds_outputs ? 0 : rows;
      } else {
        start += std::max(stream, holds_outputs ? rows_before : rows);
      }
      end = std::max(end, start + stream + rows + cols - 2);
      rows_before = rows;
    }
  }
  return end;
}

TEST(Systolic, OverlappedTimeIsThatOfItsFoldsOneByOne) {
  Draw draw(6);
  for (int i = 0; i < kCases; ++i) {
    TensorCores cores = draw.cores();
    cores.overlap_folds = true;
    const TileShape tile = draw.tile(cores);
    ASSERT_EQ(cycles(cores, tile), fold_by_fold(cores, tile)) << text(cores, tile);
  }
}

// A GEMM and its transpose are the same work with the operands' parts exchanged.
TEST(Systolic, InputStationaryIsWeightStationaryTransposed) {
  Draw draw(4);
  for (int i = 0; i < kCases; ++i) {
    TensorCores cores = draw.cores();
    const TileShape tile = draw.tile(cores);
    const TileShape transposed{tile.n, tile.m, tile.k};
    cores.dataflow = Dataflow::weight_stationary;
    const std::int64_t weights = cycles(cores, tile);
    const ArrayAccesses words = array_accesses(cores, tile);
    cores.dataflow = Dataflow::input_stationary;
    ASSERT_EQ(cycles(cores, transposed), weights) << text(cores, tile);
    const ArrayAccesses mirrored = array_accesses(cores, transposed);
    ASSERT_EQ(mirrored.a_reads, words.b_reads);
    ASSERT_EQ(mirrored.b_reads, words.a_reads);
    ASSERT_EQ(mirrored.c_writes, words.c_writes);
  }
}

TEST(Systolic, EveryOperandPassesAtLeastOnce) {
  Draw draw(5);
  for (int i = 0; i < kCases; ++i) {
    TensorCores cores = draw.cores();
    const TileShape tile = draw.tile(cores);
    const ArrayAccesses words = array_accesses(cores, tile);
    ASSERT_GE(words.a_reads, tile.m * tile.k);
    ASSERT_GE(words.b_reads, tile.k * tile.n);
    ASSERT_EQ(words.c_writes - words.c_reads, tile.m * tile.n);  // each partial sum that leaves but the last returns
    cores.accumulators = true;
    ASSERT_EQ(array_accesses(cores, tile).c_reads, 0);
    ASSERT_LE(array_accesses(cores, tile).c_writes, words.c_writes);
  }
}

}  // namespace
}  // namespace tandem
