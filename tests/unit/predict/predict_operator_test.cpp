// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "search/hbm_rate.h"
#include "search/mapper.h"
#include "search/predict.h"
#include "tests/support/chips.h"

namespace tandem {
namespace {

OperatorAnswer predicted(const Chip& chip, const Operator& op) {
  return predict_operator(chip, op, map_operator(chip, op));
}

TEST(PredictOperator, ALargeMatmulIsBoundByTheTensorCores) {
  const Operator op = make_matmul("large", {1, 2048, 2048, 2048}, DataType::bf16);
  const OperatorAnswer answer = predicted(small_chip(), op);
  EXPECT_GT(answer.utilisation, 0.9);
  EXPECT_LE(answer.utilisation, 1.0);
  EXPECT_EQ(answer.by_cause.total(), answer.time);
  EXPECT_EQ(answer.by_cause[Cause::launch], Picoseconds(1'000'000));
  EXPECT_EQ(answer.accesses.macs, std::int64_t{2048} * 2048 * 2048);
}

TEST(PredictOperator, AMatrixTimesAVectorIsBoundByHbm) {
  const Operator op = make_matmul("gemv", {1, 1, 4096, 4096}, DataType::bf16);
  const OperatorAnswer answer = predicted(small_chip(), op);
  const double least = op.hbm_bytes() / Bandwidth(100e9) / Seconds(1);
  EXPECT_GE(to_seconds(answer.time).count(), least);
  EXPECT_LE(to_seconds(answer.time).count(), 1.1 * least);
  EXPECT_GT(answer.by_cause[Cause::hbm_bandwidth], answer.time * 9 / 10);
}

TEST(PredictOperator, ATinyMatmulTakesItsLatencies) {
  const Operator op = make_matmul("tiny", {1, 16, 16, 16}, DataType::bf16);
  Chip chip = small_chip();
  chip.launch.device_tensor = Seconds(0);
  Mapping mapping;
  mapping.matmul.block = mapping.matmul.tile = {16, 16, 16};
  mapping.tensor_cores = {0, 1};
  const double nanoseconds = to_seconds(predict_operator(chip, op, mapping).time).count() * 1e9;
  EXPECT_LE(predicted(chip, op).time, predict_operator(chip, op, mapping).time);
  // Two transfers (20 ns set-up each), two ways over the NoC (30 ns each), 16 + 16 + 30 cycles, 1.5 KiB at 100 GB/s.
  const double by_hand = 2 * 20 + 2 * 30 + (16 + 16 + 30) + 1536 / 100.0 + (1024 + 512) / 128.0;
  EXPECT_NEAR(nanoseconds, by_hand, 2.0);
}

TEST(PredictOperator, CausalAttentionNeedsAboutHalf) {
  Operator op = make_matmul("scores", {8, 1024, 1024, 64}, DataType::bf16, Pass::forward, false);
  op.outputs[0].where = Residency::core;
  const auto full = predicted(small_chip(), op).time;
  op.causal = true;
  op.causal_keys = 1024;
  const auto half = predicted(small_chip(), op).time;
  EXPECT_LT(half, full * 7 / 10);
  EXPECT_GT(half, full * 45 / 100);
}

TEST(PredictOperator, AnEpilogueHidesBehindTheMatmul) {
  Operator op = make_matmul("fused", {1, 1024, 1024, 1024}, DataType::bf16);
  const auto alone = predicted(small_chip(), op).time;
  op.epilogue = {{OperatorKind::relu, Pass::forward, {1024, 1024}, Bytes(0), Bytes(0)}};
  const auto fused = predicted(small_chip(), op).time;
  EXPECT_GE(fused, alone);
  EXPECT_LT(fused, alone * 102 / 100);
}

TEST(PredictOperator, AVectorOperatorIsBoundByHbmOrLanes) {
  Chip chip = small_chip();
  const Operator add = make_vector("add", OperatorKind::residual_add, {4096, 1024}, DataType::bf16);
  const auto memory_bound = predicted(chip, add);
  EXPECT_GT(memory_bound.by_cause[Cause::hbm_bandwidth], memory_bound.time * 8 / 10);
  const Operator softmax = make_vector("softmax", OperatorKind::softmax, {4096, 1024}, DataType::bf16);
  const auto lane_bound = predicted(chip, softmax);
  EXPECT_GT(lane_bound.by_cause[Cause::vector_compute], lane_bound.time * 8 / 10);
  EXPECT_LE(lane_bound.utilisation, 1.0);
}

TEST(SustainedBandwidth, LosesRefreshAndRowTime) {
  Chip chip = small_chip();
  EXPECT_DOUBLE_EQ(sustained_bandwidth(chip, 1e6).value(), 100e9);
  chip.hbm.timing.trefi = Seconds(3900e-9);
  chip.hbm.timing.trfc = Seconds(390e-9);
  EXPECT_NEAR(sustained_bandwidth(chip, 1e6).value(), 90e9, 1);
  // A page of 1 KiB takes 81.9 ns at 12.5 GB/s; rows that open every 163.8 ns halve it.
  chip.hbm.timing.page = Bytes(1024);
  chip.hbm.timing.trrd = Seconds(163.84e-9);
  EXPECT_NEAR(sustained_bandwidth(chip, 1e6).value(), 45e9, 1);
  // A round trip is the global buffer's 20 ns; four engines of 16 bytes each, or what is asked for at all.
  chip.dma.max_outstanding = Bytes(16);
  EXPECT_NEAR(sustained_bandwidth(chip, 1e6).value(), 64 / 20e-9, 1);
  EXPECT_NEAR(sustained_bandwidth(chip, 32).value(), 32 / 20e-9, 1);
}

}  // namespace
}  // namespace tandem
