// SPDX-License-Identifier: Apache-2.0
#include "arch/support/number.h"

#include <gtest/gtest.h>

#include <limits>

namespace tandem {
namespace {

std::int64_t integer(std::string_view text) {
  return std::get<std::int64_t>(to_integer(std::get<Decimal>(parse_number(text))));
}
double real(std::string_view text) { return std::get<double>(to_double(std::get<Decimal>(parse_number(text)))); }
std::string problem(std::string_view text) {
  const auto result = parse_number(text);
  const auto* error = std::get_if<NumberError>(&result);
  return error == nullptr ? "" : error->problem;
}

TEST(Number, ExponentFormsAreEqual) {
  for (const char* text : {"1e3", "1E3", "1.0e3", "1e+3", "1000", "+1000", "1000.000", "0.001e6"}) {
    EXPECT_EQ(integer(text), 1000) << text;
    EXPECT_EQ(real(text), 1000.0) << text;
  }
}

TEST(Number, RefusesWithItsReason) {
  EXPECT_EQ(problem("1_000"), "'1_000' has a digit separator");
  EXPECT_EQ(problem("1,000"), "'1,000' has a digit separator");
  EXPECT_EQ(problem(".nan"), "'.nan' is not a finite number");
  EXPECT_EQ(problem("-.inf"), "'-.inf' is not a finite number");
  EXPECT_EQ(problem("Infinity"), "'Infinity' is not a finite number");
  EXPECT_EQ(problem("010"), "'010' begins with a zero, which some read as octal");
  EXPECT_EQ(problem("0x10"), "'0x10' is a hexadecimal or octal number");
  EXPECT_EQ(problem("0o10"), "'0o10' is a hexadecimal or octal number");
  EXPECT_EQ(problem(".5"), "'.5' begins with a decimal point");
  EXPECT_EQ(problem("5."), "'5.' has no digit after the decimal point");
  EXPECT_EQ(problem("12 GB"), "'12 GB' has a unit, 'GB', where none is due");
  for (const char* text : {"", "-", "e3", "1e3e3", "1 2", "1.2.3", "--1"}) {
    EXPECT_NE(problem(text), "") << text;
  }
}

TEST(Number, IntegersAreExactToTheLastBit) {
  EXPECT_EQ(integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(std::get<RangeError>(to_integer(std::get<Decimal>(parse_number("9223372036854775808")))),
            RangeError::too_large);
  EXPECT_EQ(std::get<RangeError>(to_integer(std::get<Decimal>(parse_number("1e99999999999")))), RangeError::too_large);
  EXPECT_EQ(std::get<RangeError>(to_integer(std::get<Decimal>(parse_number("1e-99999999999")))), RangeError::not_whole);
  EXPECT_EQ(std::get<RangeError>(to_integer(std::get<Decimal>(parse_number("1.5")))), RangeError::not_whole);
  EXPECT_EQ(integer("0e99999999999"), 0);
}

TEST(Number, RealsAreCorrectlyRounded) {
  EXPECT_EQ(real("0.1"), 0.1);
  EXPECT_EQ(real("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(std::get<RangeError>(to_double(std::get<Decimal>(parse_number("1e309")))), RangeError::too_large);
  EXPECT_EQ(std::get<double>(to_double({false, "12", -1}, {12})), 1.2e12);
}

TEST(Number, PrintsPlainlyWhereThatIsShort) {
  EXPECT_EQ(to_text(shortest_decimal(1200)), "1200");
  EXPECT_EQ(to_text(shortest_decimal(-0.05)), "-0.05");
  EXPECT_EQ(to_text(shortest_decimal(123.456)), "123.456");
  EXPECT_EQ(to_text(shortest_decimal(1.5e300)), "1.5e300");
  EXPECT_EQ(to_text(shortest_decimal(1e-30)), "1e-30");
}

}  // namespace
}  // namespace tandem
