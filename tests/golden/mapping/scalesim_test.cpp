// SPDX-License-Identifier: Apache-2.0
// Cycles of one systolic array against SCALE-Sim (arXiv 1811.02883; newest version, stall-free mode, run on the shapes
// below). The tool reports the last cycle's index, so the count is one more.
#include <gtest/gtest.h>

#include "workloads/array_accesses.h"

namespace tandem {
namespace {

struct Row {
  Dataflow dataflow;
  std::int64_t rows, cols;
  TileShape gemm;
  std::int64_t last_cycle;
};

constexpr auto kWs = Dataflow::weight_stationary;
constexpr auto kIs = Dataflow::input_stationary;
constexpr auto kOs = Dataflow::output_stationary;

class ScaleSim : public testing::TestWithParam<Row> {};

TEST_P(ScaleSim, SerialFoldsTakeTheSameCycles) {
  const Row& row = GetParam();
  TensorCores cores;
  cores.rows = row.rows;
  cores.cols = row.cols;
  cores.dataflow = row.dataflow;
  cores.overlap_folds = false;
  cores.macs_per_pe = {{DataType::int8, 1.0}};
  EXPECT_EQ(tile_cycles(cores, DataType::int8, row.gemm).total, Cycles(row.last_cycle + 1));
}

INSTANTIATE_TEST_SUITE_P(Published, ScaleSim,
                         testing::Values(Row{kWs, 8, 8, {16, 16, 16}, 151}, Row{kWs, 128, 32, {1, 256, 1024}, 18367},
                                         Row{kWs, 128, 128, {37, 101, 211}, 837},
                                         Row{kWs, 128, 128, {4096, 128, 1024}, 35823},
                                         Row{kIs, 8, 8, {16, 16, 16}, 151}, Row{kIs, 16, 64, {65, 65, 65}, 1589},
                                         Row{kIs, 32, 32, {256, 64, 256}, 10111}, Row{kOs, 8, 8, {16, 16, 16}, 119},
                                         Row{kOs, 16, 64, {128, 128, 128}, 3295},
                                         Row{kOs, 64, 64, {1, 1024, 4096}, 67551}));

struct Counts {
  Dataflow dataflow;
  std::int64_t rows, cols;
  TileShape gemm;
  std::int64_t ifmap_reads, filter_reads, ofmap_writes;
};

class ScaleSimAccesses : public testing::TestWithParam<Counts> {};

// Without accumulators, as there. For stationary outputs it counts rows + cols writes per fold that no result needs:
// they stand here as a term of their own.
TEST_P(ScaleSimAccesses, AreTheSame) {
  const Counts& row = GetParam();
  TensorCores cores;
  cores.rows = row.rows;
  cores.cols = row.cols;
  cores.dataflow = row.dataflow;
  cores.accumulators = false;
  const ArrayAccesses words = array_accesses(cores, row.gemm);
  EXPECT_EQ(words.a_reads, row.ifmap_reads);
  EXPECT_EQ(words.b_reads, row.filter_reads);
  EXPECT_EQ(words.c_writes, row.ofmap_writes);
}

INSTANTIATE_TEST_SUITE_P(Published, ScaleSimAccesses,
                         testing::Values(Counts{kWs, 8, 8, {16, 16, 16}, 512, 256, 512},
                                         Counts{kOs, 8, 8, {16, 16, 16}, 512, 512, 320 - 4 * (8 + 8)},
                                         Counts{kIs, 8, 8, {16, 16, 16}, 256, 512, 512},
                                         Counts{kWs, 16, 64, {65, 65, 65}, 8450, 4225, 21125},
                                         Counts{kOs, 16, 64, {65, 65, 65}, 8450, 21125, 5025 - 10 * (16 + 64)},
                                         Counts{kIs, 16, 64, {65, 65, 65}, 4225, 8450, 21125},
                                         Counts{kWs, 128, 128, {37, 101, 211}, 7807, 21311, 7474},
                                         Counts{kOs, 64, 64, {1, 1024, 4096}, 65536, 4194304, 3072 - 16 * (64 + 64)},
                                         Counts{kWs, 32, 32, {256, 64, 256}, 131072, 16384, 131072},
                                         Counts{kOs, 32, 32, {256, 64, 256}, 131072, 131072, 17408 - 16 * (32 + 32)},
                                         Counts{kIs, 32, 32, {256, 64, 256}, 65536, 131072, 131072}));

}  // namespace
}  // namespace tandem
