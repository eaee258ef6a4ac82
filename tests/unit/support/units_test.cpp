// SPDX-License-Identifier: Apache-2.0
#include "arch/support/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace tandem {
namespace {

template <typename T>
T parsed(std::string_view text) {
  const auto result = parse_quantity<T>(text);
  if (const auto* error = std::get_if<UnitError>(&result)) {
    ADD_FAILURE() << error->problem;
    return T{};
  }
  return std::get<T>(result);
}

template <typename T>
UnitError refused(std::string_view text) {
  const auto result = parse_quantity<T>(text);
  const auto* error = std::get_if<UnitError>(&result);
  if (error == nullptr) {
    ADD_FAILURE() << text << " was accepted";
    return {};
  }
  return *error;
}

TEST(Units, DecimalAndBinarySizesDiffer) {
  EXPECT_EQ(parsed<Bytes>("32 GB").value(), 32'000'000'000);
  EXPECT_EQ(parsed<Bytes>("32 GiB").value(), std::int64_t{32} << 30);
  EXPECT_EQ(parsed<Bytes>("1e3 MiB").value(), 1'048'576'000);
  EXPECT_EQ(parsed<Bytes>("64kB"), parsed<Bytes>("64 KB"));
  EXPECT_EQ(parsed<Bytes>("16 Gb").value(), 2'000'000'000) << "a small b is a bit";
  EXPECT_EQ(parsed<Bytes>("0.1 GB").value(), 100'000'000);
}

TEST(Units, FractionsOfAByteAreRefused) {
  EXPECT_EQ(parsed<Bytes>("1.5 KiB").value(), 1536);
  EXPECT_EQ(refused<Bytes>("1.5 B").problem, "'1.5 B' is not a whole number of bytes");
  EXPECT_EQ(refused<Bytes>("0.1 KiB").problem, "'0.1 KiB' is not a whole number of bytes");
  EXPECT_EQ(refused<Bytes>("1 b").problem, "'1 b' is not a whole number of bytes");
  EXPECT_EQ(refused<Cycles>("1.5 cycles").problem, "'1.5 cycles' is not a whole number of cycles");
}

TEST(Units, BandwidthsInBitsBecomeBytes) {
  EXPECT_EQ(parsed<Bandwidth>("1.2 TB/s").value(), 1.2e12);
  for (const char* text : {"800 Gbps", "800 Gb/s", "800 Gbit/s", "100 GB/s", "100 GBps", "0.8 Tbps"}) {
    EXPECT_EQ(parsed<Bandwidth>(text).value(), 1e11) << text;
  }
  EXPECT_EQ(parsed<Bandwidth>("1 GiB/s").value(), 1073741824.0);
}

TEST(Units, EveryQuantityHasItsSpellings) {
  EXPECT_EQ(parsed<Frequency>("940 MHz").value(), 940e6);
  EXPECT_EQ(parsed<Frequency>("1.05GHz").value(), 1.05e9);
  EXPECT_EQ(parsed<Seconds>("500 ns").count(), 500e-9);
  EXPECT_EQ(parsed<Seconds>("2 min").count(), 120.0);
  EXPECT_EQ(parsed<Length>("7 nm").value(), 7e-9);
  EXPECT_EQ(parsed<FlopRate>("275 TFLOP/s"), parsed<FlopRate>("275 TFLOPS"));
  EXPECT_EQ(parsed<FlopRate>("275 TFLOP/s").value(), 275e12);
  EXPECT_EQ(parsed<Flops>("2.5 TFLOP").value(), 2'500'000'000'000);
  EXPECT_EQ(parsed<Power>("400 W").value(), 400.0);
  EXPECT_EQ(parsed<Power>("1.5 mW").value(), 1.5e-3);
  EXPECT_EQ(parsed<Energy>("1.5 pJ").value(), 1.5);
  EXPECT_EQ(parsed<Energy>("2 J").value(), 2e12);
  EXPECT_EQ(parsed<Area>("826 mm2").value(), 826e6);
  EXPECT_EQ(parsed<Area>("0.5 um2").value(), 0.5);
  EXPECT_EQ(parsed<Area>("826 mm\u00b2"), parsed<Area>("826 mm^2"));
  EXPECT_EQ(parsed<Cycles>("24 cycles").value(), 24);
}

TEST(Units, BothMicroSignsAreMicro) {
  for (const char* text : {"3 us", "3 \u00b5s", "3 \u03bcs"}) EXPECT_EQ(parsed<Seconds>(text).count(), 3e-6) << text;
}

TEST(Units, ABareNumberHasNoUnit) {
  const UnitError error = refused<Bytes>("32");
  EXPECT_EQ(error.problem, "'32' has no unit");
  EXPECT_EQ(error.expected, "a size such as 32 GiB");
}

TEST(Units, NearMissesAreSuggested) {
  EXPECT_EQ(refused<Bytes>("32 GIB").suggestion, "GiB");
  EXPECT_EQ(refused<Bytes>("32 gb").suggestion, "GB");
  EXPECT_EQ(refused<Bytes>("32 G").suggestion, "GB");
  EXPECT_EQ(refused<Frequency>("940 Mhz").suggestion, "MHz");
  EXPECT_EQ(refused<Bandwidth>("1 TB/S").suggestion, "TB/s");
  EXPECT_EQ(refused<Seconds>("500 NS").suggestion, "ns");
  EXPECT_EQ(refused<Bytes>("32 parsecs").suggestion, "");
}

TEST(Units, OneQuantityIsNotAnother) {
  refused<Bytes>("32 GB/s");
  refused<Bandwidth>("32 GB");
  refused<Frequency>("1 s");
  refused<Flops>("1 TFLOP/s");
  refused<Area>("1 mm");
}

TEST(Units, WhatIsNoNumberIsRefused) {
  for (const char* text :
       {"", " ", "GiB", ".nan GiB", ".inf GiB", "nan GB", "1_000 GiB", "1,000 GiB", "0x20 GiB", "010 GiB"}) {
    EXPECT_EQ(refused<Bytes>(text).expected, "a size such as 32 GiB") << text;
  }
}

TEST(Units, ValuesBeyondTheTypeAreRefused) {
  EXPECT_EQ(parsed<Bytes>("9223372036854775807 B").value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(refused<Bytes>("8 EiB").problem, "'8 EiB' is beyond the range of 64 bits");
  EXPECT_EQ(refused<Bytes>("1e400 GiB").problem, "'1e400 GiB' is beyond the range of 64 bits");
  EXPECT_EQ(refused<Bandwidth>("1e300 EB/s").problem, "'1e300 EB/s' is beyond the range of 64 bits");
}

TEST(Units, ReadableTexts) {
  EXPECT_EQ(to_text(Bytes(std::int64_t{32} << 30)), "32 GiB");
  EXPECT_EQ(to_text(Bytes(0)), "0 B");
  EXPECT_EQ(to_text(Bytes(1023)), "1023 B");
  EXPECT_EQ(to_text(Bandwidth(1.2e12)), "1.2 TB/s");
  EXPECT_EQ(to_text(Frequency(940e6)), "940 MHz");
  EXPECT_EQ(to_text(Frequency(999.99e6)), "1 GHz");
  EXPECT_EQ(to_text(Seconds(3.1e-3)), "3.1 ms");
  EXPECT_EQ(to_text(Seconds(0)), "0 s");
  EXPECT_EQ(to_text(Seconds(5400)), "1.5 h");
  EXPECT_EQ(to_text(Seconds(-2e-6)), "-2 us");
  EXPECT_EQ(to_text(Picoseconds(952)), "952 ps");
  EXPECT_EQ(to_text(FlopRate(275e12)), "275 TFLOP/s");
  EXPECT_EQ(to_text(Flops(1234567)), "1.235 MFLOP");
  EXPECT_EQ(to_text(Area(826e6)), "826 mm2");
  EXPECT_EQ(to_text(Energy(1.5)), "1.5 pJ");
  EXPECT_EQ(to_text(Power(400)), "400 W");
  EXPECT_EQ(to_text(Length(7e-9)), "7 nm");
  EXPECT_EQ(to_text(Cycles(24)), "24 cycles");
}

TEST(Units, ExactTextsKeepEveryBitAndStayReadable) {
  EXPECT_EQ(to_exact_text(Bytes(std::int64_t{32} << 30)), "32 GiB");
  EXPECT_EQ(to_exact_text(Bytes(1025)), "1025 B");
  EXPECT_EQ(to_exact_text(Bandwidth(1.2e12)), "1.2 TB/s");
  EXPECT_EQ(to_exact_text(Frequency(1.05e9)), "1.05 GHz");
  EXPECT_EQ(to_exact_text(Seconds(500e-9)), "500 ns");
  EXPECT_EQ(to_exact_text(Area(826e6)), "826 mm2");
  EXPECT_EQ(to_exact_text(Power(0)), "0 W");
  EXPECT_EQ(to_exact_text(Length(7e-9)), "7 nm");
}

}  // namespace
}  // namespace tandem
