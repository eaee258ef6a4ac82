// SPDX-License-Identifier: Apache-2.0
#include "arch/area.h"

#include <gtest/gtest.h>

#include "arch/support/error.h"

namespace tandem {
namespace {

Technology technology() {
  Technology t;
  t.name = "t";
  t.mac = Area(100);
  t.lane = Area(1000);
  t.local_sram = {{Bytes(1024), Area(10)}, {Bytes(4096), Area(70)}};
  t.global_sram = {{Bytes(1 << 20), Area(1e6)}};
  t.noc_per_core = Area(7);
  t.hbm_per_channel = Area(50);
  t.link = Area(3);
  t.fixed = Area(11);
  t.mac_energy = {{DataType::bf16, Energy(0.5)}};
  t.lane_energy = Energy(1);
  t.local_byte = Energy(2);
  t.global_byte = Energy(3);
  t.noc_byte = Energy(4);
  t.hbm_byte = Energy(5);
  t.link_byte = Energy(6);
  t.leakage_w_per_mm2 = 0.1;
  return t;
}

Chip chip() {
  Chip c;
  c.clock = Frequency(1e9);
  c.tensor = {.count = 2, .arrays = 1, .rows = 4, .cols = 8, .local_buffer = Bytes(4096)};
  c.tensor.macs_per_pe = {{DataType::bf16, 1.0}, {DataType::fp8, 2.0}};
  c.vector = {.count = 3, .lanes = 5, .local_buffer = Bytes(1024)};
  c.glb = {.capacity = Bytes(2 << 20), .bandwidth = Bandwidth(10e9)};
  c.noc = {.port_bandwidth = Bandwidth(1e9)};
  c.hbm = {.stacks = 2, .channels_per_stack = 4, .bandwidth = Bandwidth(8e9)};
  return c;
}

TEST(Area, SumsItsComponents) {
  const ChipArea area = estimate_area(chip(), technology(), 6);
  EXPECT_DOUBLE_EQ(area.tensor_cores.value(), 2 * 4 * 8 * 100);
  EXPECT_DOUBLE_EQ(area.vector_cores.value(), 3 * 5 * 1000);
  EXPECT_DOUBLE_EQ(area.local_buffers.value(), 2 * 70 + 3 * 10);
  EXPECT_DOUBLE_EQ(area.global_buffer.value(), 2e6) << "beyond the last entry: its density";
  EXPECT_DOUBLE_EQ(area.noc.value(), 5 * 7);
  EXPECT_DOUBLE_EQ(area.hbm.value(), 8 * 50);
  EXPECT_DOUBLE_EQ(area.links.value(), 6 * 3);
  EXPECT_DOUBLE_EQ(area.total().value(), 6400 + 15000 + 170 + 2e6 + 35 + 400 + 18 + 11);
}

TEST(Area, BuffersAreInterpolatedBetweenMacros) {
  Chip c = chip();
  c.tensor.local_buffer = Bytes(2560);  // half-way from 1 to 4 KiB
  c.vector.local_buffer = Bytes(512);   // below the first entry: its density
  EXPECT_DOUBLE_EQ(estimate_area(c, technology()).local_buffers.value(), 2 * 40 + 3 * 5);
}

TEST(Area, SharedLocalBufferCountsOnce) {
  Chip c = chip();
  c.vector.shares_local_buffer = true;
  const ChipArea area = estimate_area(c, technology());
  EXPECT_DOUBLE_EQ(area.local_buffers.value(), 2 * 70);
  EXPECT_DOUBLE_EQ(area.noc.value(), 3 * 7);
}

TEST(Energy, ChargesEveryAccess) {
  const AccessCounts counts{.macs = 10,
                            .vector_operations = 20,
                            .local = Bytes(1),
                            .global = Bytes(2),
                            .noc = Bytes(3),
                            .hbm = Bytes(4),
                            .link = Bytes(5)};
  const ChipEnergy energy = estimate_energy(counts, DataType::bf16, technology(), Area(5e6), Seconds(2e-12));
  EXPECT_DOUBLE_EQ(energy.tensor_cores.value(), 5);
  EXPECT_DOUBLE_EQ(energy.vector_cores.value(), 20);
  EXPECT_DOUBLE_EQ(energy.leakage.value(), 0.1 * 5 * 2) << "W/mm2 x mm2 x ps, in pJ";
  EXPECT_DOUBLE_EQ(energy.total().value(), 5 + 20 + 2 + 6 + 12 + 20 + 30 + 1);
}

TEST(Energy, UnknownTypeIsAnErrorNotZero) {
  EXPECT_THROW(estimate_energy({.macs = 1}, DataType::int8, technology(), Area(0), Seconds(0)), ConfigError);
}

TEST(PeakPower, SumsFullRates) {
  // 64 MACs a ns; operands 2 cores x 12 elements x 2 B a ns; 5 ports of 1 GB/s; HBM 8 GB/s; leakage of the area.
  const double leakage = 0.1 * estimate_area(chip(), technology()).total().value() * 1e-6;
  const double watts = 64 * 0.5e-3 + 48 * 2e-3 + 5 * (3 + 4) * 1e-3 + 8 * 5e-3 + leakage;
  EXPECT_NEAR(estimate_peak_power(chip(), technology(), DataType::bf16).value(), watts, 1e-12);
}

}  // namespace
}  // namespace tandem
