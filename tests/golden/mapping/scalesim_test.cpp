// SPDX-License-Identifier: Apache-2.0
// Cycles of one systolic array against SCALE-Sim (arXiv 1811.02883; newest version, stall-free mode, run on the shapes
// below). The tool reports the last cycle's index, so the count is one more.
#include <gtest/gtest.h>

#include "workloads/mapping.h"

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

}  // namespace
}  // namespace tandem
