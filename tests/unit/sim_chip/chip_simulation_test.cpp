// SPDX-License-Identifier: Apache-2.0
// Whole operators and slices on a chip with round numbers.
#include "sim/chip_simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/support/error.h"
#include "tests/support/small_chip.h"

namespace tandem {
namespace {

using std::chrono::nanoseconds;
using test::small_chip;
using test::whole_block;

Operator gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return make_matmul("gemm", {1, m, n, k}, DataType::bf16);
}

Slice chain(const Operator& op, const Mapping& mapping, int count) {
  Slice slice;
  slice.name = "slice";
  for (int i = 0; i < count; ++i) {
    slice.graph.operators.push_back(op);
    if (i > 0) slice.graph.edges.push_back({i - 1, i});
    slice.mappings.push_back(mapping);
  }
  return slice;
}

// 8 x 8 x 8 as one tile on a 4 x 4 array. A and B, 128 B each, 32 B a channel at 16 B/ns: 2 ns each from HBM. Both over
// the port at 32 B/ns: 8 ns. Four folds of 8 cycles and a fill and drain of 4 + 4 + 4 - 2: 42 ns. The result, 128 B: 4
// ns over the port, 2 ns to HBM.
TEST(SimulateOperator, TinyGemmByHand) {
  const Operator op = gemm(8, 8, 8);
  const OperatorAnswer answer = simulate_operator(small_chip(), op, whole_block(op, {8, 8, 8}));
  EXPECT_EQ(answer.time, nanoseconds(4 + 8 + 42 + 4 + 2));
  EXPECT_EQ(answer.by_cause[Cause::compute], nanoseconds(32));
  EXPECT_EQ(answer.by_cause[Cause::fill_drain], nanoseconds(10));
  EXPECT_EQ(answer.by_cause[Cause::hbm_bandwidth], nanoseconds(6));
  EXPECT_EQ(answer.by_cause[Cause::noc], nanoseconds(12));
  EXPECT_EQ(answer.hbm_bytes, Bytes(384));
  EXPECT_EQ(answer.accesses.macs, 512);
  EXPECT_DOUBLE_EQ(answer.utilisation, 16.0 / 60.0);  // of both cores
}

TEST(SimulateOperator, IdealPartsTakeTheirTimeAway) {
  const Operator op = gemm(8, 8, 8);
  const Mapping mapping = whole_block(op, {8, 8, 8});
  Chip chip = small_chip();
  chip.launch.device_tensor = Seconds(100e-9);
  SimulationOptions options;
  EXPECT_EQ(simulate_operator(chip, op, mapping, options).time, nanoseconds(160));
  options.ideal.launch = true;
  EXPECT_EQ(simulate_operator(chip, op, mapping, options).time, nanoseconds(60));
  options.ideal.hbm = true;
  EXPECT_EQ(simulate_operator(chip, op, mapping, options).time, nanoseconds(57));  // the buffer still takes A and B: 3
  options.ideal.noc = true;
  EXPECT_EQ(simulate_operator(chip, op, mapping, options).time, nanoseconds(42));
}

TEST(SimulateOperator, BothCoresShareTheTiles) {
  const Operator op = gemm(64, 64, 64);
  const OperatorAnswer one = simulate_operator(small_chip(), op, whole_block(op, {16, 16, 64}, 1));
  const OperatorAnswer two = simulate_operator(small_chip(), op, whole_block(op, {16, 16, 64}, 2));
  EXPECT_LT(to_seconds(two.time) / to_seconds(one.time), 0.55);
}

TEST(SimulateOperator, DoubleBufferingHidesLoads) {
  const Operator op = gemm(128, 128, 128);
  Mapping mapping = whole_block(op, {32, 32, 32}, 2);
  mapping.matmul.block = {32, 64, 128};
  const OperatorAnswer overlapped = simulate_operator(small_chip(), op, mapping);
  mapping.matmul.double_buffer = false;
  const OperatorAnswer alternating = simulate_operator(small_chip(), op, mapping);
  EXPECT_LT(overlapped.time, alternating.time);
  EXPECT_GT(alternating.by_cause[Cause::buffer_stall], nanoseconds(0));
}

TEST(SimulateOperator, EpilogueRunsOnAVectorCore) {
  Operator op = gemm(8, 8, 8);
  op.epilogue = {{.kind = OperatorKind::relu, .shape = {8, 8}}};
  const OperatorAnswer answer = simulate_operator(small_chip(), op, whole_block(op, {8, 8, 8}));
  EXPECT_EQ(answer.by_cause[Cause::vector_compute], nanoseconds(16));  // 64 elements on 4 lanes
  EXPECT_EQ(answer.time, nanoseconds(60 + 16));
}

TEST(SimulateOperator, VectorOperatorByHand) {
  const Operator op = make_vector("relu", OperatorKind::relu, {8, 16}, DataType::bf16);
  Mapping mapping;
  mapping.vector = {8, 16, 1};
  mapping.vector_cores = {0, 1};
  const OperatorAnswer answer = simulate_operator(small_chip(), op, mapping);
  // 256 B each way: 4 ns HBM, 8 ns port; 128 elements on 4 lanes.
  EXPECT_EQ(answer.time, nanoseconds(4 + 8 + 32 + 8 + 4));
  EXPECT_EQ(answer.by_cause[Cause::vector_compute], nanoseconds(32));
  EXPECT_LE(answer.utilisation, 1.0);
}

TEST(SimulateSlice, OperatorsOfOneCoreFollowEachOther) {
  const Operator op = gemm(8, 8, 8);
  const Slice slice = chain(op, whole_block(op, {8, 8, 8}), 3);
  std::vector<OperatorAnswer> operators;
  const SliceAnswer answer = simulate_slice(small_chip(), slice, &operators);
  EXPECT_EQ(answer.time, nanoseconds(180));
  ASSERT_EQ(operators.size(), 3U);
  EXPECT_EQ(operators[2].start, nanoseconds(120));
  EXPECT_EQ(answer.by_cause[Cause::compute], nanoseconds(96));
  EXPECT_EQ(answer.by_cause.total(), answer.time);
}

TEST(SimulateSlice, IndependentOperatorsRunSideBySideAndContend) {
  const Operator op = gemm(8, 8, 8);
  Slice slice = chain(op, whole_block(op, {8, 8, 8}), 2);
  slice.graph.edges.clear();
  slice.mappings[1].tensor_cores = {1, 1};
  slice.mappings[0].vector_cores = slice.mappings[1].vector_cores = {};
  std::vector<OperatorAnswer> operators;
  const SliceAnswer answer = simulate_slice(small_chip(), slice, &operators);
  EXPECT_EQ(operators[1].start, nanoseconds(0));
  EXPECT_EQ(operators[0].time, nanoseconds(60));
  EXPECT_GT(operators[1].by_cause[Cause::dependency], nanoseconds(0));  // behind the first in HBM
  EXPECT_LT(answer.time, nanoseconds(80));
  EXPECT_EQ(answer.by_cause.total(), answer.time);
}

TEST(SimulateSlice, EmptySliceTakesNoTime) { EXPECT_EQ(simulate_slice(small_chip(), Slice{}).time, nanoseconds(0)); }

TEST(SimulateSlice, RefusesWhatTheChipCannotRun) {
  const Operator op = gemm(8, 8, 8);
  const Mapping mapping = whole_block(op, {8, 8, 8});
  const Chip chip = small_chip();
  Mapping wrong = mapping;
  wrong.tensor_cores = {1, 2};
  EXPECT_THROW(simulate_operator(chip, op, wrong), ConfigError);
  wrong = mapping;
  wrong.matmul.tile.k = 0;
  EXPECT_THROW(simulate_operator(chip, op, wrong), ConfigError);
  Operator fp8 = op;
  fp8.dtype = DataType::fp8;
  EXPECT_THROW(simulate_operator(chip, fp8, mapping), ConfigError);
  Chip small = chip;
  small.tensor.local_buffer = Bytes(64);
  EXPECT_THROW(simulate_operator(small, op, mapping), InfeasibleError);
  small = chip;
  small.glb.capacity = Bytes(64);
  EXPECT_THROW(simulate_operator(small, op, mapping), InfeasibleError);
  Slice slice = chain(op, mapping, 2);
  slice.schedule.order = {1, 0};
  EXPECT_THROW(simulate_slice(chip, slice), ConfigError);
}

TEST(SimulateSlice, StopsWhenCancelled) {
  const Operator op = gemm(8, 8, 8);
  SimulationOptions options;
  options.cancelled = [] { return true; };
  EXPECT_THROW(simulate_operator(small_chip(), op, whole_block(op, {8, 8, 8}), options), CancelledError);
  // The next one is not affected.
  EXPECT_EQ(simulate_operator(small_chip(), op, whole_block(op, {8, 8, 8})).time, nanoseconds(60));
}

class MockSink : public TraceSink {
 public:
  MOCK_METHOD(std::int32_t, add_unit, (std::string_view, std::string_view, std::int32_t), (override));
  MOCK_METHOD(std::int32_t, add_operator, (std::string_view, const Operator&), (override));
  MOCK_METHOD(std::int32_t, add_counter, (std::string_view, std::string_view), (override));
  void event(const TraceEvent& event) override { events.push_back(event); }
  MOCK_METHOD(void, counter, (std::int32_t, Picoseconds, double), (override));
  std::vector<TraceEvent> events;
};

TEST(RunSlice, RecordsTilesAndTransfers) {
  using testing::_;
  testing::NiceMock<MockSink> sink;
  std::int32_t units = 0;
  ON_CALL(sink, add_unit(_, _, _)).WillByDefault([&units] { return units++; });
  ON_CALL(sink, add_operator(_, _)).WillByDefault(testing::Return(7));
  const Chip chip = small_chip();
  const Operator op = gemm(8, 8, 8);
  const Slice slice = chain(op, whole_block(op, {8, 8, 8}), 1);
  EXPECT_CALL(sink, add_unit(_, _, _)).Times(testing::AnyNumber());
  EXPECT_CALL(sink, add_unit(testing::Eq("chip0.tensor_core1"), _, _));
  EXPECT_CALL(sink, add_unit(testing::Eq("chip0.hbm1.channel0"), _, _));
  ChipTrace trace{&sink, announce_chip(sink, chip), announce_operators(sink, slice), nanoseconds(1000)};
  SimulationOptions options;
  options.detail = Detail::transaction;
  run_slice(chip, slice, options, trace);
  const auto events_of = [&](EventKind kind) {
    return std::count_if(sink.events.begin(), sink.events.end(), [&](const TraceEvent& e) { return e.kind == kind; });
  };
  EXPECT_EQ(events_of(EventKind::compute), 1);
  EXPECT_EQ(events_of(EventKind::dma_read), 2);
  EXPECT_EQ(events_of(EventKind::dma_write), 1);
  EXPECT_EQ(events_of(EventKind::noc_read), 1);
  EXPECT_EQ(events_of(EventKind::noc_write), 1);
  EXPECT_EQ(events_of(EventKind::hbm_read), 8);
  for (const TraceEvent& event : sink.events) {
    EXPECT_GE(event.start, nanoseconds(1000));
    EXPECT_LE(event.end, nanoseconds(1060));
    EXPECT_EQ(event.operation, 7);
  }
  sink.events.clear();
  options.detail = Detail::operators;
  run_slice(chip, slice, options, trace);
  EXPECT_EQ(events_of(EventKind::compute), 0);
}

}  // namespace
}  // namespace tandem
