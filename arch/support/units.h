// SPDX-License-Identifier: Apache-2.0
// Text to quantity and back. A bare number where a unit is due is refused. GB is 10^9, GiB 2^30; Gb and Gbps are bits.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "arch/support/quantity.h"

namespace tandem {

/// Why a text is not a quantity: what is wrong, what was expected ("a size such as 32 GiB"), the nearest known unit.
struct UnitError {
  std::string problem;
  std::string expected;
  std::string suggestion;
};

template <typename T>
using Parsed = std::variant<T, UnitError>;

/// T is Bytes, Flops, Cycles, Bandwidth, FlopRate, Frequency, Area, Energy, Power, Length or Seconds. NaN, infinity,
/// values beyond the type's range and fractions of a byte or cycle are refused; a sign is accepted, ranges are the
/// reader's business. Numbers: decimal, optional fraction and exponent ("1e3"), no digit separators, no octal.
template <typename T>
Parsed<T> parse_quantity(std::string_view text);

/// Shortest readable form with a fitting prefix: "32 GiB", "1.2 TB/s", "940 MHz", "3.1 ms", "275 TFLOP/s".
std::string to_text(Bytes);
std::string to_text(Flops);
std::string to_text(Cycles);
std::string to_text(Bandwidth);
std::string to_text(FlopRate);
std::string to_text(Frequency);
std::string to_text(Area);  ///< in mm2
std::string to_text(Energy);
std::string to_text(Power);
std::string to_text(Length);
std::string to_text(Seconds);
std::string to_text(Picoseconds);

/// Exact form for resolved configs: parse_quantity(to_exact_text(x)) == x.
template <typename T>
std::string to_exact_text(T quantity);

}  // namespace tandem
