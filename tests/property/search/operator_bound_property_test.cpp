// SPDX-License-Identifier: Apache-2.0
#include "search/operator_bound.h"

#include <gtest/gtest.h>

#include "search/mapper.h"
#include "search/predict.h"
#include "tests/support/random_work.h"

namespace tandem {
namespace {

/// A TPU-like core of any shape: memory and ports are as likely to bind as the arrays.
Chip wide_chip(test::Random& random) {
  Chip chip = test::random_chip(random);
  chip.tensor.count = std::int64_t{1} << random.in(0, 8);
  chip.tensor.arrays = 1;
  chip.tensor.rows = std::int64_t{2} << random.in(0, 7);
  chip.tensor.cols = std::int64_t{2} << random.in(0, 7);
  chip.tensor.local_buffer = Bytes(std::max<std::int64_t>(1024, chip.tensor.rows * chip.tensor.cols * 16));
  chip.glb.capacity = Bytes(random.in(1, 64) << 20);
  chip.glb.bandwidth = Bandwidth(4e12);
  chip.noc.port_bandwidth = Bandwidth(1e9 * static_cast<double>(random.in(20, 1000)));
  chip.hbm.bandwidth = Bandwidth(1e9 * static_cast<double>(random.in(100, 3000)));
  return chip;
}

void expect_bound(const Chip& chip, const Operator& op) {
  const OperatorBound bound(chip);
  const Seconds predicted = to_seconds(predict_operator(chip, op, map_operator(chip, op)).time);
  EXPECT_LE(bound.quick(op), bound.close(op));
  EXPECT_LE(bound.close(op), predicted);
  EXPECT_GT(bound.quick(op), Seconds(0));
}

TEST(OperatorBound, NoMappingIsPredictedFaster) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const Chip chip = test::random_chip(random);
    expect_bound(chip, random.in(0, 4) == 0 ? test::random_vector(random) : test::random_matmul(random));
  }
}

TEST(OperatorBound, NoMappingOfALargeMatmulIsPredictedFaster) {
  double closeness = 0;
  constexpr std::int64_t kCases = 300;
  for (std::int64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(static_cast<std::uint64_t>(seed));
    const Chip chip = wide_chip(random);
    const MatmulShape shape{1, std::int64_t{1} << random.in(5, 13), std::int64_t{1} << random.in(5, 13),
                            random.in(64, 8192)};
    const Operator op = make_matmul("large", shape, DataType::bf16);
    expect_bound(chip, op);
    closeness += OperatorBound(chip).close(op) / to_seconds(predict_operator(chip, op, map_operator(chip, op)).time);
  }
  // A bound that says nothing prunes nothing.
  EXPECT_GT(closeness / kCases, 0.5);
}

/// Any mapping, not only what the mapper looks at.
TEST(OperatorBound, NoRandomMappingIsPredictedFaster) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const Chip chip = test::random_chip(random);
    const Operator op = test::random_matmul(random);
    const Mapping mapping = test::random_mapping(random, chip, op);
    EXPECT_LE(OperatorBound(chip).quick(op), to_seconds(predict_operator(chip, op, mapping).time));
  }
}

TEST(OperatorBound, MatmulsExcludeEachOtherAndDependencesHold) {
  const std::vector<Operator> operators{make_matmul("a", {1, 64, 64, 64}, DataType::bf16),
                                        make_vector("v", OperatorKind::softmax, {64, 64}, DataType::bf16)};
  const std::vector<Seconds> times{Seconds(3), Seconds(2)};
  EXPECT_EQ(least_graph_time({{0, 0}, {}}, operators, times), Seconds(6));
  EXPECT_EQ(least_graph_time({{0, 1}, {}}, operators, times), Seconds(3));
  EXPECT_EQ(least_graph_time({{0, 1}, {{0, 1}}}, operators, times), Seconds(5));
}

}  // namespace
}  // namespace tandem
