// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "arch/chip_fields.h"
#include "arch/config.h"
#include "tests/unit/arch/example_chip.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string complaint_of(const std::string& text) {
  try {
    load_chip_text(text, "c.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ChipConfig, ReadsEveryField) {
  const Chip chip = load_chip_text(kExampleChip, "c.yaml");
  EXPECT_EQ(chip.name, "example");
  EXPECT_EQ(chip.clock, Frequency(1e9));
  EXPECT_EQ(chip.tensor.count, 4);
  EXPECT_EQ(chip.tensor.arrays, 1);
  EXPECT_EQ(chip.tensor.dataflow, Dataflow::weight_stationary);
  EXPECT_EQ(chip.tensor.local_buffer, Bytes(1 << 20));
  EXPECT_EQ(chip.tensor.macs_per_pe.at(DataType::int8), 2.0);
  EXPECT_EQ(chip.vector.throughput, (std::array<double, kVectorOps>{1, 1, 0.25, 0.5, 1}));
  EXPECT_EQ(chip.glb.capacity, Bytes(32 << 20));
  EXPECT_FALSE(chip.noc.multicast);
  EXPECT_EQ(chip.hbm.timing.tccd_l, Seconds(4e-9));
  EXPECT_EQ(chip.hbm.bandwidth, Bandwidth(512e9));
  EXPECT_EQ(chip.launch.host.at("matmul"), Seconds(21e-6));
}

TEST(ChipConfig, ResolvedTextReadsBackTheSame) {
  const Chip chip = load_chip_text(kExampleChip, "c.yaml");
  EXPECT_EQ(to_yaml(load_chip_text(to_yaml(chip), "resolved.yaml")), to_yaml(chip));
}

TEST(ChipConfig, UnknownKeyNamesTheNearest) {
  EXPECT_THAT(complaint_of(with(kExampleChip, "  rows: 64", "  rows: 64\n  array: 1")),
              AllOf(HasSubstr("tensor_cores.array"), HasSubstr("arrays")));
}

TEST(ChipConfig, MissingKeyIsNamed) {
  EXPECT_THAT(complaint_of(with(kExampleChip, "  rows: 64\n", "")), HasSubstr("tensor_cores.rows"));
}

TEST(ChipConfig, AllComplaintsComeTogether) {
  std::string text = with(kExampleChip, "clock: 1 GHz", "clock: 1");
  text = with(text, "  count: 4", "  count: 0");
  text = with(text, "  capacity: 32 GiB", "  capacity: 0 GiB");
  EXPECT_THAT(complaint_of(text),
              AllOf(HasSubstr("clock"), HasSubstr("tensor_cores.count"), HasSubstr("hbm.capacity")));
}

TEST(ChipConfig, BadNumbersAreRefused) {
  for (const char* count : {"0", "-1", ".nan", ".inf", "1e300", "'4'", "four", "1.5", "2000000000"}) {
    EXPECT_THAT(complaint_of(with(kExampleChip, "  count: 4", std::string("  count: ") + count)),
                HasSubstr("tensor_cores.count"))
        << count;
  }
  EXPECT_EQ(load_chip_text(with(kExampleChip, "  count: 4", "  count: 1e3"), "c.yaml").tensor.count, 1000);
}

// A sanity check that refused equal timings was a public bug: only tCCD_L below the burst is wrong.
TEST(ChipConfig, EqualColumnTimingsAreAccepted) {
  const std::string equal = with(kExampleChip, "tccd_l: 4 ns", "tccd_l: 2 ns");
  EXPECT_EQ(load_chip_text(equal, "c.yaml").hbm.timing.tccd_l, Seconds(2e-9));
}

TEST(ChipConfig, LongColumnTimingBelowTheShortOneIsRefusedWithBoth) {
  EXPECT_THAT(complaint_of(with(kExampleChip, "tccd_l: 4 ns", "tccd_l: 1.9 ns")),
              AllOf(HasSubstr("hbm.timing.tccd_l"), HasSubstr("1.9 ns"), HasSubstr("2 ns")));
}

TEST(ChipConfig, LongColumnTimingBelowTheBurstIsRefusedWithBoth) {
  // HBM3 at 6.4 Gb/s: a burst of 8 takes 2.5 ns on a channel of 25.6 GB/s and 64 B.
  std::string text = with(kExampleChip, "bandwidth: 512 GB/s", "bandwidth: 819.2 GB/s");
  text = with(text, "atom: 32 B", "atom: 64 B");
  EXPECT_EQ(complaint_of(with(text, "tccd_l: 4 ns", "tccd_l: 2.5 ns")), "accepted");
  EXPECT_THAT(complaint_of(with(text, "tccd_l: 4 ns", "tccd_l: 2.4 ns")),
              AllOf(HasSubstr("hbm.timing.tccd_l"), HasSubstr("2.4 ns"), HasSubstr("2.5 ns")));
}

TEST(ChipConfig, TimingsComeAllOrNone) {
  EXPECT_THAT(complaint_of(with(kExampleChip, "    trcd: 14 ns\n", "")), HasSubstr("hbm.timing.trcd"));
}

TEST(ChipConfig, LocalBufferHoldsATile) {
  EXPECT_THAT(complaint_of(with(kExampleChip, "local_buffer: 1 MiB", "local_buffer: 8 KiB")),
              AllOf(HasSubstr("tensor_cores.local_buffer"), HasSubstr("8 KiB"), HasSubstr("64 x 64")));
}

TEST(ChipConfig, PinRateGivesTheBandwidth) {
  const std::string pins = "pin_rate: 2 Gb/s\n  bits_per_channel: 64";
  const Chip chip = load_chip_text(with(kExampleChip, "bandwidth: 512 GB/s", pins), "c.yaml");
  EXPECT_DOUBLE_EQ(chip.hbm.bandwidth.value(), 2e9 / 8 * 64 * 32);
  EXPECT_EQ(complaint_of(with(kExampleChip, "bandwidth: 512 GB/s", "bandwidth: 512 GB/s\n  " + pins)), "accepted");
  EXPECT_THAT(complaint_of(with(kExampleChip, "bandwidth: 512 GB/s", "bandwidth: 600 GB/s\n  " + pins)),
              AllOf(HasSubstr("hbm.bandwidth"), HasSubstr("600 GB/s"), HasSubstr("512 GB/s")));
  EXPECT_THAT(complaint_of(with(kExampleChip, "bandwidth: 512 GB/s", "pin_rate: 2 Gb/s")),
              HasSubstr("hbm.bits_per_channel"));
  EXPECT_THAT(complaint_of(with(kExampleChip, "  bandwidth: 512 GB/s\n", "")), HasSubstr("hbm.bandwidth"));
}

TEST(ChipConfig, UnknownTypesAndKindsAreRefused) {
  EXPECT_THAT(complaint_of(with(kExampleChip, "    bf16: 1", "    bf61: 1")), HasSubstr("macs_per_pe.bf61"));
  EXPECT_THAT(complaint_of(with(kExampleChip, "    matmul: 21 us", "    matmull: 21 us")),
              AllOf(HasSubstr("launch.host.matmull"), HasSubstr("matmul")));
}

// A capacity that wrapped in 32 bits shrank as it was declared larger: 409600 KiB and 1638400 KiB were the public case.
TEST(ChipConfig, CapacitiesAreExactIn64Bits) {
  const auto capacity = [](const std::string& text) {
    return load_chip_text(with(kExampleChip, "  capacity: 32 MiB", "  capacity: " + text), "c.yaml").glb.capacity;
  };
  EXPECT_EQ(capacity("409600 KiB"), Bytes(419430400));
  EXPECT_EQ(capacity("1638400 KiB"), Bytes(1677721600));
}

TEST(ChipConfig, BlankLinesAndLineEndsDoNotMatter) {
  std::string crlf;
  for (const char c : std::string("\n") + kExampleChip + "\n\n# end  \n") {
    if (c == '\n') crlf += '\r';
    crlf += c;
  }
  EXPECT_EQ(to_yaml(load_chip_text(crlf, "c.yaml")), to_yaml(load_chip_text(kExampleChip, "c.yaml")));
}

}  // namespace
}  // namespace tandem
