// SPDX-License-Identifier: Apache-2.0
#include "arch/support/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <optional>
#include <vector>

#include "arch/support/config_tree.h"
#include "arch/support/error.h"
#include "arch/support/number.h"
#include "arch/support/unit_table.h"

namespace tandem {
namespace {

template <typename T>
struct Base {  // how a quantity holds its value
  using rep = typename T::rep;
  static rep value(T quantity) { return quantity.value(); }
};
template <>
struct Base<Seconds> {
  using rep = double;
  static double value(Seconds time) { return time.count(); }
};

UnitError unknown_unit(std::string_view text, std::string_view unit, const UnitTable& table) {
  std::vector<std::string> names;
  for (const Unit& known : table.accepted) names.push_back(known.name);
  return {fmt::format("{} has an unknown unit, {}", in_quotes(text), in_quotes(unit)), table.expected,
          nearest_name(unit, names)};
}

UnitError out_of_range(std::string_view text, RangeError error, const UnitTable& table) {
  if (error == RangeError::not_whole) {
    return {fmt::format("{} is not a whole number of {}", in_quotes(text), table.whole), table.expected, {}};
  }
  return {in_quotes(text) + " is beyond the range of 64 bits", table.expected, {}};
}

template <typename T>
Parsed<T> scaled(std::string_view text, const Decimal& number, const Scale& scale) {
  const auto convert = [&](auto result) -> Parsed<T> {
    if (const auto* error = std::get_if<RangeError>(&result)) return out_of_range(text, *error, unit_table<T>());
    return T(std::get<typename Base<T>::rep>(result));
  };
  if constexpr (std::integral<typename Base<T>::rep>) {
    return convert(to_integer(number, scale));
  } else {
    return convert(to_double(number, scale));
  }
}

/// "%.4g" without an exponent for anything below a million.
std::string four_digits(double value) {
  std::string text = fmt::format("{:.4g}", value);
  if (text.find('e') == std::string::npos || std::abs(value) >= 1e6) return text;
  return std::abs(value) >= 1 ? fmt::format("{:.0f}", value) : text;
}

double factor(const Unit& unit) {
  return std::pow(10.0, unit.scale.power10) * static_cast<double>(unit.scale.numerator);
}

/// In the largest unit in which the rounded number is at least one.
std::string readable(double base_value, const std::vector<Unit>& units) {
  const Unit* chosen = &units.front();
  for (const Unit& unit : units) {
    if (std::abs(base_value) >= factor(unit) * 0.99995) chosen = &unit;
  }
  if (base_value == 0) {  // "0 s", not "0 ps"
    for (const Unit& unit : units) {
      if (unit.scale.power10 == 0 && unit.scale.numerator == 1) chosen = &unit;
    }
  }
  return fmt::format("{} {}", four_digits(base_value / factor(*chosen)), chosen->name);
}

template <typename T>
std::string readable(T quantity) {
  return readable(static_cast<double>(Base<T>::value(quantity)), unit_table<T>().readable);
}

std::string exact_integer(std::int64_t value, const std::vector<Unit>& units) {
  std::string text;
  for (const Unit& unit : units) {
    std::int64_t factor = unit.scale.numerator;
    for (int i = 0; i < unit.scale.power10; ++i) factor *= 10;
    if (text.empty() || (value != 0 && value % factor == 0)) text = fmt::format("{} {}", value / factor, unit.name);
  }
  return text;
}

std::string exact_double(double value, const std::vector<Unit>& units) {
  if (!std::isfinite(value)) return fmt::format("{} {}", value, units.front().name);
  Decimal number = shortest_decimal(value);
  const std::int64_t magnitude = static_cast<std::int64_t>(number.digits.size()) + number.exponent - 1;
  const Unit* chosen = nullptr;
  for (const Unit& unit : units) {
    const bool fits = value != 0 && magnitude >= unit.scale.power10;
    if (chosen == nullptr || fits || (value == 0 && unit.scale.power10 == 0)) chosen = &unit;
  }
  if (value != 0) number.exponent -= chosen->scale.power10;
  return fmt::format("{} {}", to_text(number), chosen->name);
}

}  // namespace

template <typename T>
Parsed<T> parse_quantity(std::string_view text) {
  const UnitTable& table = unit_table<T>();
  const std::string_view body = trimmed(text);
  const auto prefix = parse_number_prefix(body);
  if (const auto* error = std::get_if<NumberError>(&prefix)) return UnitError{error->problem, table.expected, {}};
  const auto& [number, rest] = std::get<NumberPrefix>(prefix);
  const std::string_view name = trimmed(rest);
  if (name.empty()) return UnitError{in_quotes(text) + " has no unit", table.expected, {}};
  const auto unit = std::find_if(table.accepted.begin(), table.accepted.end(),
                                 [&](const Unit& candidate) { return candidate.name == name; });
  if (unit == table.accepted.end()) return unknown_unit(text, name, table);
  return scaled<T>(text, number, unit->scale);
}

template <typename T>
std::string to_exact_text(T quantity) {
  const std::vector<Unit>& units = unit_table<T>().written;
  if constexpr (std::integral<typename Base<T>::rep>) {
    return exact_integer(Base<T>::value(quantity), units);
  } else {
    return exact_double(Base<T>::value(quantity), units);
  }
}

std::string to_text(Bytes bytes) { return readable(bytes); }
std::string to_text(Flops flops) { return readable(flops); }
std::string to_text(Cycles cycles) { return readable(cycles); }
std::string to_text(Bandwidth bandwidth) { return readable(bandwidth); }
std::string to_text(FlopRate rate) { return readable(rate); }
std::string to_text(Frequency frequency) { return readable(frequency); }
std::string to_text(Area area) { return readable(area); }
std::string to_text(Energy energy) { return readable(energy); }
std::string to_text(Power power) { return readable(power); }
std::string to_text(Length length) { return readable(length); }
std::string to_text(Seconds time) { return readable(time); }
std::string to_text(Picoseconds time) { return to_text(to_seconds(time)); }

#define TANDEM_QUANTITY(T)                                \
  template Parsed<T> parse_quantity<T>(std::string_view); \
  template std::string to_exact_text<T>(T);
TANDEM_QUANTITY(Bytes)
TANDEM_QUANTITY(Flops)
TANDEM_QUANTITY(Cycles)
TANDEM_QUANTITY(Bandwidth)
TANDEM_QUANTITY(FlopRate)
TANDEM_QUANTITY(Frequency)
TANDEM_QUANTITY(Area)
TANDEM_QUANTITY(Energy)
TANDEM_QUANTITY(Power)
TANDEM_QUANTITY(Length)
TANDEM_QUANTITY(Seconds)
#undef TANDEM_QUANTITY

}  // namespace tandem
