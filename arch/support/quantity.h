// SPDX-License-Identifier: Apache-2.0
// Strong types for physical quantities: bytes cannot be added to FLOPs, cycles not to seconds.
#pragma once

#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace tandem {

/// A number with a unit. Construction is explicit; `value()` leaves the unit behind.
template <typename Tag, typename Rep>
class Quantity {
 public:
  using rep = Rep;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}

  [[nodiscard]] constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    if constexpr (std::integral<Rep>) {
      Rep sum{};
      if (__builtin_add_overflow(a.value_, b.value_, &sum)) throw std::overflow_error("quantity sum exceeds 64 bits");
      return Quantity(sum);
    } else {
      return Quantity(a.value_ + b.value_);
    }
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }

  /// Product with a plain number; integer overflow throws std::overflow_error.
  template <typename N>
  requires std::is_arithmetic_v<N>
  friend constexpr Quantity operator*(Quantity a, N n) {
    if constexpr (std::integral<Rep> && std::integral<N>) {
      Rep product{};
      if (__builtin_mul_overflow(a.value_, n, &product)) throw std::overflow_error("quantity product exceeds 64 bits");
      return Quantity(product);
    } else {
      return Quantity(static_cast<Rep>(static_cast<double>(a.value_) * static_cast<double>(n)));
    }
  }
  template <typename N>
  requires std::is_arithmetic_v<N>
  friend constexpr Quantity operator*(N n, Quantity a) { return a * n; }
  template <typename N>
  requires std::is_arithmetic_v<N>
  friend constexpr Quantity operator/(Quantity a, N n) {
    if constexpr (std::integral<Rep> && std::integral<N>) {
      return Quantity(static_cast<Rep>(a.value_ / n));
    } else {
      return Quantity(static_cast<Rep>(static_cast<double>(a.value_) / static_cast<double>(n)));
    }
  }
  /// Ratio of two like quantities, a plain number.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value_) / static_cast<double>(b.value_);
  }

 private:
  Rep value_{};
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Flops = Quantity<struct FlopsTag, std::int64_t>;  ///< floating-point operations (a MAC is two)
using Cycles = Quantity<struct CyclesTag, std::int64_t>;
using Bandwidth = Quantity<struct BandwidthTag, double>;  ///< bytes per second
using FlopRate = Quantity<struct FlopRateTag, double>;    ///< FLOP per second
using Frequency = Quantity<struct FrequencyTag, double>;  ///< hertz
using Area = Quantity<struct AreaTag, double>;            ///< square micrometres
using Energy = Quantity<struct EnergyTag, double>;        ///< picojoules
using Power = Quantity<struct PowerTag, double>;          ///< watts
using Length = Quantity<struct LengthTag, double>;        ///< metres (process nodes: 7e-9)

__extension__ using Int128 = __int128;

/// Simulated time: integer picoseconds, about 106 days in 63 bits.
using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
/// Predicted time: seconds in double precision.
using Seconds = std::chrono::duration<double>;

constexpr Seconds operator/(Bytes bytes, Bandwidth rate) {
  return Seconds(static_cast<double>(bytes.value()) / rate.value());
}
constexpr Seconds operator/(Flops flops, FlopRate rate) {
  return Seconds(static_cast<double>(flops.value()) / rate.value());
}
constexpr Seconds operator/(Cycles cycles, Frequency clock) {
  return Seconds(static_cast<double>(cycles.value()) / clock.value());
}
constexpr Bandwidth operator/(Bytes bytes, Seconds time) {
  return Bandwidth(static_cast<double>(bytes.value()) / time.count());
}
constexpr FlopRate operator/(Flops flops, Seconds time) {
  return FlopRate(static_cast<double>(flops.value()) / time.count());
}
constexpr Power operator/(Energy energy, Seconds time) { return Power(energy.value() * 1e-12 / time.count()); }

/// Product of 64-bit sizes; std::overflow_error when it does not fit.
template <typename... N>
constexpr std::int64_t checked_product(std::int64_t first, N... rest) {
  std::int64_t product = first;
  const auto times = [&product](std::int64_t n) {
    if (__builtin_mul_overflow(product, n, &product)) throw std::overflow_error("size exceeds 64 bits");
  };
  (times(static_cast<std::int64_t>(rest)), ...);
  return product;
}

/// ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Rounds a predicted time to whole picoseconds (half away from zero); std::overflow_error beyond 63 bits.
constexpr Picoseconds to_picoseconds(Seconds time) {
  const double ps = time.count() * 1e12;
  if (!(ps > -9.2e18 && ps < 9.2e18)) throw std::overflow_error("time exceeds 63 bits of picoseconds");
  return Picoseconds(static_cast<std::int64_t>(ps + (ps < 0 ? -0.5 : 0.5)));
}
constexpr Seconds to_seconds(Picoseconds time) { return Seconds(static_cast<double>(time.count()) * 1e-12); }

/// Converts whole cycles to time without the drift of a rounded period (1.05 GHz is 952.38 ps).
class Clock {
 public:
  constexpr explicit Clock(Frequency frequency) : hertz_(static_cast<std::int64_t>(frequency.value() + 0.5)) {}

  /// cycles * 10^12 / hertz, rounded up to a whole picosecond.
  [[nodiscard]] constexpr Picoseconds time(Cycles cycles) const {
    const auto scaled = static_cast<Int128>(cycles.value()) * 1'000'000'000'000;
    return Picoseconds(static_cast<std::int64_t>((scaled + hertz_ - 1) / hertz_));
  }
  /// Whole cycles that have begun by `time` (rounded up).
  [[nodiscard]] constexpr Cycles cycles(Picoseconds time) const {
    const auto scaled = static_cast<Int128>(time.count()) * hertz_;
    return Cycles(static_cast<std::int64_t>((scaled + 999'999'999'999) / 1'000'000'000'000));
  }

 private:
  std::int64_t hertz_;
};

}  // namespace tandem
