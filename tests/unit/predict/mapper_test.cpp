// SPDX-License-Identifier: Apache-2.0
#include "search/mapper.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "arch/support/error.h"
#include "search/predict.h"
#include "tests/support/chips.h"

namespace tandem {
namespace {

TEST(MapOperator, KeepsToTheBuffers) {
  const Chip chip = small_chip();
  for (const MatmulShape& shape : {MatmulShape{1, 4096, 4096, 4096},
                                   {1, 1, 50000, 12288},
                                   {96, 2048, 2048, 128},
                                   {1, 17, 3, 1000003},
                                   {1, 1, 1, 1}}) {
    const Operator op = make_matmul("op", shape, DataType::bf16);
    const Mapping mapping = map_operator(chip, op);
    EXPECT_LE(local_buffer_needed(op, mapping.matmul), chip.tensor.local_buffer);
    EXPECT_LE(global_buffer_needed(op, mapping.matmul, mapping.tensor_cores.count), chip.glb.capacity);
    EXPECT_EQ(mapping, map_operator(chip, op));
  }
}

// https://github.com/ARM-software/SCALE-Sim/issues/12: bytes and time never rise with the buffer.
TEST(MapOperator, ALargerGlobalBufferIsNeverWorse) {
  for (const MatmulShape& shape : {MatmulShape{1, 64, 8192, 8192}, {1, 2048, 2048, 2048}, {1, 512, 4096, 256}}) {
    const Operator op = make_matmul("op", shape, DataType::bf16);
    Picoseconds time = Picoseconds::max();
    Bytes bytes(std::int64_t{1} << 60);
    for (std::int64_t kib = 256; kib <= 8192; kib *= 2) {
      Chip chip = small_chip();
      chip.hbm.bandwidth = Bandwidth(5e9);
      chip.glb.capacity = Bytes(kib * 1024);
      const OperatorAnswer answer = predict_operator(chip, op, map_operator(chip, op));
      EXPECT_LE(answer.time, time) << kib;
      EXPECT_LE(answer.hbm_bytes, bytes) << kib;
      time = answer.time;
      bytes = answer.hbm_bytes;
    }
  }
}

TEST(MapOperator, SplitsKWhereOutputsAreFew) {
  const Operator op = make_matmul("reduce", {1, 16, 16, 65536}, DataType::bf16);
  Chip chip = small_chip();
  chip.hbm.bandwidth = Bandwidth(10e12);
  chip.noc.port_bandwidth = Bandwidth(10e12);
  chip.glb.bandwidth = Bandwidth(100e12);
  EXPECT_GT(map_operator(chip, op).matmul.split_k, 1);
}

TEST(MapOperator, CutsRowsThatDoNotFit) {
  Chip chip = small_chip();
  chip.vector.local_buffer = Bytes(1024);
  const Operator op = make_vector("softmax", OperatorKind::softmax, {64, 100000}, DataType::bf16);
  const VectorMapping mapping = map_operator(chip, op).vector;
  EXPECT_EQ(mapping.rows_per_tile, 1);
  EXPECT_LT(mapping.cols_per_tile, 100000);
  EXPECT_EQ(mapping.reads_of_row, 3);
}

TEST(MapOperator, SaysWhatIsTooSmall) {
  Chip chip = small_chip();
  chip.tensor.local_buffer = Bytes(4);
  const Operator op = make_matmul("op", {1, 64, 64, 64}, DataType::bf16);
  try {
    map_operator(chip, op);
    FAIL();
  } catch (const InfeasibleError& error) {
    EXPECT_NE(std::string(error.what()).find("local buffer"), std::string::npos) << error.what();
  }
  EXPECT_THROW(map_operator(small_chip(), make_matmul("op", {1, 8, 8, 8}, DataType::fp8)), ConfigError);
}

TEST(ScheduleOperators, RunsTensorAndVectorWorkSideBySide) {
  const Chip chip = small_chip();
  OperatorGraph graph;
  graph.add(make_matmul("a", {1, 512, 512, 512}, DataType::bf16));
  graph.add(make_vector("b", OperatorKind::gelu, {512, 512}, DataType::bf16));
  graph.add(make_matmul("c", {1, 512, 512, 512}, DataType::bf16), {0});
  std::vector<Mapping> mappings;
  for (const Operator& op : graph.operators) mappings.push_back(map_operator(chip, op));
  const OperatorSchedule schedule = schedule_operators(chip, graph, mappings);
  EXPECT_EQ(schedule.start[1], Seconds(0));
  EXPECT_EQ(schedule.start[0], Seconds(0));
  EXPECT_GT(schedule.start[2], Seconds(0));
  EXPECT_DOUBLE_EQ(schedule.makespan.count(), schedule.lower_bound.count());
}

}  // namespace
}  // namespace tandem
