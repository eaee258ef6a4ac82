// SPDX-License-Identifier: Apache-2.0
#include "arch/support/quantity.h"

#include <gtest/gtest.h>

#include <concepts>
#include <limits>

namespace tandem {
namespace {

template <typename A, typename B>
concept Addable = requires(A a, B b) {
  a + b;
};

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Flops>);
static_assert(!Addable<Bytes, Cycles>);
static_assert(!Addable<Cycles, Seconds>);
static_assert(!Addable<Bytes, std::int64_t>);
static_assert(!std::convertible_to<std::int64_t, Bytes>);
static_assert(!std::convertible_to<Bytes, std::int64_t>);

TEST(Quantity, IntegerOverflowThrows) {
  const Bytes largest(std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(largest + Bytes(1), std::overflow_error);
  EXPECT_THROW(largest * 2, std::overflow_error);
  EXPECT_THROW(checked_product(std::int64_t{1} << 32, std::int64_t{1} << 31), std::overflow_error);
  EXPECT_EQ(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
}

TEST(Quantity, QuotientsHaveTheRightDimension) {
  EXPECT_DOUBLE_EQ((Bytes(100) / Bandwidth(50)).count(), 2.0);
  EXPECT_DOUBLE_EQ((Flops(100) / FlopRate(200)).count(), 0.5);
  EXPECT_DOUBLE_EQ((Cycles(10'000) / Frequency(1e9)).count(), 10e-6);
  EXPECT_DOUBLE_EQ(Bytes(30) / Bytes(20), 1.5);
  EXPECT_DOUBLE_EQ((Energy(3e12) / Seconds(2)).value(), 1.5);
}

TEST(Clock, AFractionalPeriodDoesNotDrift) {
  const Clock clock(Frequency(1.05e9));
  EXPECT_EQ(clock.time(Cycles(1)).count(), 953) << "952.38 ps, rounded up";
  EXPECT_EQ(clock.time(Cycles(1'050'000'000)).count(), 1'000'000'000'000) << "a second's worth of cycles is a second";
  EXPECT_EQ(clock.cycles(clock.time(Cycles(21))).value(), 21);
}

TEST(Picoseconds, RoundingAndRange) {
  EXPECT_EQ(to_picoseconds(Seconds(1.4e-12)).count(), 1);
  EXPECT_EQ(to_picoseconds(Seconds(-1.6e-12)).count(), -2);
  EXPECT_THROW(to_picoseconds(Seconds(1e8)), std::overflow_error);
  EXPECT_THROW(to_picoseconds(Seconds(std::numeric_limits<double>::quiet_NaN())), std::overflow_error);
}

}  // namespace
}  // namespace tandem
