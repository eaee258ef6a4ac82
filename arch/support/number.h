// SPDX-License-Identifier: Apache-2.0
// The one grammar of numbers in all inputs: sign? digits ("." digits)? ([eE] sign? digits)?, without digit separators,
// octal, hexadecimal, infinity or NaN. Kept as a decimal so that units scale it exactly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace tandem {

/// sign * digits * 10^exponent; digits have no leading or trailing zeros ("0" for zero).
struct Decimal {
  bool negative = false;
  std::string digits = "0";
  std::int64_t exponent = 0;
};

struct NumberPrefix {
  Decimal number;
  std::string_view rest;  ///< what follows the number
};

struct NumberError {
  std::string problem;
  std::string expected;
};

/// Reads the number that `text` begins with.
std::variant<NumberPrefix, NumberError> parse_number_prefix(std::string_view text);
/// `text` must be a number and nothing else.
std::variant<Decimal, NumberError> parse_number(std::string_view text);

/// number * 10^power10 * numerator / denominator.
struct Scale {
  int power10 = 0;
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;
};

enum class RangeError { not_whole, too_large };

/// Exact or an error.
std::variant<std::int64_t, RangeError> to_integer(const Decimal& number, const Scale& scale = {});
/// Nearest double; `too_large` also for what is too small for a normal double.
std::variant<double, RangeError> to_double(const Decimal& number, const Scale& scale = {});

/// The shortest decimal that reads back as `value`, which must be finite.
Decimal shortest_decimal(double value);
/// Plain notation, or with an exponent where that would need many zeros.
std::string to_text(const Decimal& number);

std::string_view trimmed(std::string_view text);  ///< without blanks and tabs at both ends

}  // namespace tandem
