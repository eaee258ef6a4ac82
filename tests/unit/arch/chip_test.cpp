// SPDX-License-Identifier: Apache-2.0
#include "arch/chip.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

Chip chip_of_one_core() {
  Chip chip;
  chip.clock = Frequency(1e9);
  chip.tensor = {.count = 1, .arrays = 1, .rows = 250, .cols = 200, .macs_per_pe = {{DataType::bf16, 1.0}}};
  chip.vector = {.count = 2, .lanes = 64, .throughput = {1, 2, 0.25, 0.125, 1}};
  chip.hbm = {.stacks = 2, .channels_per_stack = 8, .bandwidth = Bandwidth(1600e9)};
  return chip;
}

TEST(Chip, PeakCountsTwoFlopsPerMac) { EXPECT_DOUBLE_EQ(chip_of_one_core().peak(DataType::bf16).value(), 100e12); }

TEST(Chip, PeakScalesWithEveryFactor) {
  Chip chip = chip_of_one_core();
  chip.tensor.count = 3;
  chip.tensor.arrays = 4;
  chip.tensor.macs_per_pe[DataType::int8] = 2.0;
  EXPECT_DOUBLE_EQ(chip.core_macs_per_cycle(DataType::int8), 4.0 * 250 * 200 * 2);
  EXPECT_DOUBLE_EQ(chip.peak(DataType::int8).value(), 3 * 4 * 2 * 100e12);
}

TEST(Chip, UnsupportedTypeHasNoPeak) {
  const Chip chip = chip_of_one_core();
  EXPECT_FALSE(chip.supports(DataType::fp8));
  EXPECT_EQ(chip.peak(DataType::fp8).value(), 0);
}

TEST(Chip, VectorPeakUsesMultiplyAddRate) {
  EXPECT_DOUBLE_EQ(chip_of_one_core().vector_peak().value(), 2 * 64 * 2 * 1e9);
}

// A roofline whose memory roof was off by 10^9 was a public bug: with 100 TFLOP/s and 1600 GB/s the ridge is at
// 62.5 FLOP/B, 10 FLOP/B reach 16 TFLOP/s and 1000 FLOP/B reach the peak.
TEST(Chip, RidgePointKeepsUnits) {
  const Chip chip = chip_of_one_core();
  EXPECT_DOUBLE_EQ(chip.ridge_point(DataType::bf16), 62.5);
  const auto roof = [&chip](double intensity) {
    return std::min(chip.peak(DataType::bf16).value(), intensity * chip.hbm.bandwidth.value());
  };
  EXPECT_DOUBLE_EQ(roof(10), 16e12);
  EXPECT_DOUBLE_EQ(roof(1000), 100e12);
}

TEST(Chip, ChannelsShareTheBandwidth) {
  const Chip chip = chip_of_one_core();
  EXPECT_EQ(chip.hbm.channels(), 16);
  EXPECT_DOUBLE_EQ(chip.hbm.channel_bandwidth().value(), 100e9);
}

}  // namespace
}  // namespace tandem
