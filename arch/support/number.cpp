// SPDX-License-Identifier: Apache-2.0
#include "arch/support/number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>

#include "arch/support/error.h"
#include "arch/support/quantity.h"

namespace tandem {
namespace {

constexpr std::int64_t kMaxExponent = 1'000'000;  // far beyond any double: larger ones are clamped to it
constexpr std::size_t kMaxExactDigits = 36;       // below 2^127

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::size_t count_digits(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

NumberError wrong(std::string_view text, const std::string& why, std::string expected) {
  return {fmt::format("{} {}", in_quotes(text), why), std::move(expected)};
}

bool is_not_finite(std::string_view word) {
  const std::string name = lower(word);
  return name == "nan" || name == ".nan" || name == "inf" || name == ".inf" || name == "infinity";
}

std::int64_t parse_exponent(std::string_view digits) {
  const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size());
  const std::string_view significant = digits.substr(first);
  if (significant.size() > 6) return kMaxExponent;
  std::int64_t exponent = 0;
  std::from_chars(significant.data(), significant.data() + significant.size(), exponent);
  return exponent;
}

void normalise(Decimal& number) {
  const std::size_t first = number.digits.find_first_not_of('0');
  if (first == std::string::npos) {
    number.digits = "0";
    number.exponent = 0;
    return;
  }
  const std::size_t last = number.digits.find_last_not_of('0');
  number.exponent += static_cast<std::int64_t>(number.digits.size() - 1 - last);
  number.digits = number.digits.substr(first, last - first + 1);
}

/// What a failed start of a number deserves to be told.
NumberError no_number(std::string_view text, std::string_view unsigned_text) {
  if (is_not_finite(unsigned_text)) return wrong(text, "is not a finite number", "a finite number");
  if (unsigned_text.starts_with('.') && unsigned_text.size() > 1 && is_digit(unsigned_text[1])) {
    return wrong(text, "begins with a decimal point", fmt::format("0{}", unsigned_text.substr(0, 24)));
  }
  return wrong(text, "is not a number", "a number such as 12, 0.5 or 1e3");
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::variant<NumberPrefix, NumberError> parse_number_prefix(std::string_view text) {
  NumberPrefix out;
  std::string_view rest = text;
  if (rest.starts_with('-') || rest.starts_with('+')) {
    out.number.negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  const std::size_t whole = count_digits(rest);
  if (whole == 0) return no_number(text, rest);
  if (whole > 1 && rest.front() == '0') {
    return wrong(text, "begins with a zero, which some read as octal", "a decimal number without leading zeros");
  }
  out.number.digits = rest.substr(0, whole);
  rest.remove_prefix(whole);
  if (out.number.digits == "0" && rest.size() > 1 && (rest[0] == 'x' || rest[0] == 'X' || rest[0] == 'o')) {
    return wrong(text, "is a hexadecimal or octal number", "a decimal number");
  }
  if (rest.starts_with('.')) {
    const std::size_t fraction = count_digits(rest.substr(1));
    if (fraction == 0) return wrong(text, "has no digit after the decimal point", "a number such as 12, 0.5 or 1e3");
    out.number.digits += rest.substr(1, fraction);
    out.number.exponent = -static_cast<std::int64_t>(fraction);
    rest.remove_prefix(fraction + 1);
  }
  if (rest.size() > 1 && (rest[0] == 'e' || rest[0] == 'E')) {
    const std::size_t sign = rest[1] == '-' || rest[1] == '+' ? 1 : 0;
    const std::size_t digits = count_digits(rest.substr(1 + sign));
    if (digits > 0) {
      const std::int64_t exponent = parse_exponent(rest.substr(1 + sign, digits));
      out.number.exponent += rest[1] == '-' ? -exponent : exponent;
      rest.remove_prefix(1 + sign + digits);
    }
  }
  if (rest.size() > 1 && (rest[0] == '_' || rest[0] == ',' || rest[0] == '\'') && is_digit(rest[1])) {
    return wrong(text, "has a digit separator", "plain digits, such as 1000 or 1e3");
  }
  normalise(out.number);
  out.rest = rest;
  return out;
}

std::variant<Decimal, NumberError> parse_number(std::string_view text) {
  const std::string_view body = trimmed(text);
  auto prefix = parse_number_prefix(body);
  if (auto* error = std::get_if<NumberError>(&prefix)) return std::move(*error);
  auto& [number, rest] = std::get<NumberPrefix>(prefix);
  if (!rest.empty()) {
    const std::string_view tail = trimmed(rest);
    const bool unit = !tail.empty() && is_letter(tail.front());
    return wrong(text, unit ? fmt::format("has a unit, {}, where none is due", in_quotes(tail)) : "is not a number",
                 "a plain number such as 12, 0.5 or 1e3");
  }
  return std::move(number);
}

std::variant<std::int64_t, RangeError> to_integer(const Decimal& number, const Scale& scale) {
  if (number.digits == "0") return 0;
  if (number.digits.size() > kMaxExactDigits) {
    return number.exponent + scale.power10 >= 0 ? RangeError::too_large : RangeError::not_whole;
  }
  Int128 value = 0;
  for (const char c : number.digits) value = value * 10 + (c - '0');
  if (__builtin_mul_overflow(value, Int128{scale.numerator}, &value)) return RangeError::too_large;
  std::int64_t exponent = number.exponent + scale.power10;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(value, Int128{10}, &value)) return RangeError::too_large;
  }
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) return RangeError::not_whole;
    value /= 10;
  }
  if (value % scale.denominator != 0) return RangeError::not_whole;
  value /= scale.denominator;
  if (number.negative) value = -value;
  if (value > std::numeric_limits<std::int64_t>::max() || value < std::numeric_limits<std::int64_t>::min()) {
    return RangeError::too_large;
  }
  return static_cast<std::int64_t>(value);
}

std::variant<double, RangeError> to_double(const Decimal& number, const Scale& scale) {
  const std::string text =
      fmt::format("{}{}e{}", number.negative ? "-" : "", number.digits, number.exponent + scale.power10);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return RangeError::too_large;
  value = value * static_cast<double>(scale.numerator) / static_cast<double>(scale.denominator);
  if (!std::isfinite(value)) return RangeError::too_large;
  return value;
}

Decimal shortest_decimal(double value) {
  std::array<char, 64> buffer{};
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const auto prefix =
      parse_number_prefix(std::string_view(buffer.data(), static_cast<std::size_t>(end - buffer.data())));
  return std::get<NumberPrefix>(prefix).number;
}

std::string to_text(const Decimal& number) {
  const auto size = static_cast<std::int64_t>(number.digits.size());
  const std::int64_t point = size + number.exponent;  // digits before the decimal point
  const std::string_view sign = number.negative ? "-" : "";
  const std::string_view digits = number.digits;
  const auto zeros = [](std::int64_t count) { return std::string(static_cast<std::size_t>(count), '0'); };
  if (point > 21 || point < -5) {
    return fmt::format("{}{}{}{}e{}", sign, digits.substr(0, 1), size > 1 ? "." : "", digits.substr(1), point - 1);
  }
  if (point <= 0) return fmt::format("{}0.{}{}", sign, zeros(-point), digits);
  if (number.exponent >= 0) return fmt::format("{}{}{}", sign, digits, zeros(number.exponent));
  const auto whole = static_cast<std::size_t>(point);
  return fmt::format("{}{}.{}", sign, digits.substr(0, whole), digits.substr(whole));
}

}  // namespace tandem
