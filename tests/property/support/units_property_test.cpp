// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "arch/support/number.h"
#include "arch/support/unit_table.h"
#include "arch/support/units.h"

namespace tandem {
namespace {

constexpr int kCases = 20'000;

template <typename T>
struct Random {
  using rep = typename T::rep;
  std::mt19937_64 bits{7};

  /// Any finite double, or any 64-bit integer of any magnitude.
  T operator()() {
    if constexpr (std::integral<rep>) {
      return T(static_cast<rep>(bits()) >> (bits() % 64));
    } else {
      for (;;) {
        const auto value = std::bit_cast<double>(bits());
        if (std::isfinite(value) && std::abs(value) > 1e-250) return T(value);
      }
    }
  }
  /// A value as configs have them.
  T usual() {
    const double magnitude = std::pow(10.0, static_cast<double>(bits() % 24) - 8);
    const double value = static_cast<double>(bits() % 100'000) * magnitude / 100;
    if constexpr (std::integral<rep>) {
      return T(static_cast<rep>(value));
    } else {
      return T(value);
    }
  }
};

template <typename T>
class Quantities : public testing::Test {};
using All = testing::Types<Bytes, Flops, Cycles, Bandwidth, FlopRate, Frequency, Area, Energy, Power, Length, Seconds>;
TYPED_TEST_SUITE(Quantities, All);

template <typename T>
void expect_round_trip(T value) {
  const std::string text = to_exact_text(value);
  const auto back = parse_quantity<T>(text);
  ASSERT_TRUE(std::holds_alternative<T>(back)) << text << ": " << std::get<UnitError>(back).problem;
  EXPECT_EQ(std::get<T>(back), value) << text;
}

TYPED_TEST(Quantities, ExactTextReadsBackToTheBit) {
  Random<TypeParam> random;
  for (int i = 0; i < kCases; ++i) {
    expect_round_trip(random());
    expect_round_trip(random.usual());
  }
}

TYPED_TEST(Quantities, ReadableTextIsWithinItsFourDigits) {
  Random<TypeParam> random;
  const auto plain = [](TypeParam value) { return value / TypeParam(1); };
  for (int i = 0; i < kCases; ++i) {
    const TypeParam value = random.usual();
    const auto back = parse_quantity<TypeParam>(to_text(value));
    // A rounded integer quantity may end in a fraction of its unit ("1.235 KiB" is no whole number of bytes).
    if (!std::holds_alternative<TypeParam>(back)) {
      ASSERT_TRUE(std::get<UnitError>(back).problem.find("whole number") != std::string::npos) << to_text(value);
      continue;
    }
    EXPECT_NEAR(plain(std::get<TypeParam>(back)), plain(value), 0.000501 * std::abs(plain(value))) << to_text(value);
  }
}

TYPED_TEST(Quantities, EverySpellingIsItsScale) {
  for (const Unit& unit : unit_table<TypeParam>().accepted) {
    const auto one = parse_quantity<TypeParam>("8" + unit.name);
    ASSERT_TRUE(std::holds_alternative<TypeParam>(one) || unit.name == "EiB" || unit.name == "EB") << unit.name;
    EXPECT_EQ(one, parse_quantity<TypeParam>("8.0e0 " + unit.name + " ")) << unit.name;
    EXPECT_EQ(one, parse_quantity<TypeParam>("\t+0.08E2 " + unit.name)) << unit.name;
  }
}

TYPED_TEST(Quantities, NoSpellingMeansTwoThings) {
  const auto& units = unit_table<TypeParam>().accepted;
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (std::size_t j = i + 1; j < units.size(); ++j) EXPECT_NE(units[i].name, units[j].name);
  }
}

}  // namespace

bool operator==(const UnitError& a, const UnitError& b) { return a.expected == b.expected; }

}  // namespace tandem
