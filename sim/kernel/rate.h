// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <stdexcept>

#include "arch/support/quantity.h"

namespace tandem::sim {

/// Bytes to time in whole picoseconds, rounded up, so that nothing is ever faster than its bandwidth. A rate of 0 is
/// infinite: it takes no time.
class Rate {
 public:
  Rate() = default;
  explicit Rate(Bandwidth bandwidth) {
    if (bandwidth.value() <= 0) return;
    const double scaled = std::ceil(1e12 / bandwidth.value() * kScale);
    if (!(scaled < 9e18)) throw std::overflow_error("bandwidth too small to simulate");
    scaled_picoseconds_per_byte_ = static_cast<std::int64_t>(scaled);
  }

  [[nodiscard]] Picoseconds time(Bytes bytes) const {
    const auto scaled = static_cast<Int128>(bytes.value()) * scaled_picoseconds_per_byte_;
    return Picoseconds(static_cast<std::int64_t>((scaled + kRoundUp) >> kShift));
  }

 private:
  static constexpr int kShift = 32;
  static constexpr double kScale = 4294967296.0;
  static constexpr std::int64_t kRoundUp = (std::int64_t{1} << kShift) - 1;
  std::int64_t scaled_picoseconds_per_byte_ = 0;
};

}  // namespace tandem::sim
