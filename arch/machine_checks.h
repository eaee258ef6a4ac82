// SPDX-License-Identifier: Apache-2.0
// Ranges of the fields of chips, clusters and technologies: wide enough for any machine one could mean, narrow enough
// that no product of them leaves 64 bits and no time the range of simulated time.
#pragma once

#include <string>
#include <utility>

#include "arch/support/config_reader.h"

namespace tandem::machine_checks {

inline Check within(double lowest, double highest, std::string expected) {
  return [lowest, highest, expected = std::move(expected)](double x) {
    return x >= lowest && x <= highest ? std::string() : expected;
  };
}

inline const Check count = within(1, 1 << 20, "a count from 1 to 1048576");
inline const Check extent = within(1, 1 << 14, "a size from 1 to 16384");
inline const Check capacity = within(1, 0x1p50, "a size from 1 B to 1 PiB");
inline const Check capacity_or_none = within(0, 0x1p50, "a size from 0 B to 1 PiB");
inline const Check clock = within(1e3, 1e12, "a frequency from 1 kHz to 1 THz");
inline const Check rate = within(1e3, 1e18, "a rate from 1 KB/s to 1 EB/s");
inline const Check rate_or_none = [](double x) {
  return x == 0 || (x >= 1e3 && x <= 1e18) ? std::string() : "0 B/s, or a rate from 1 KB/s to 1 EB/s";
};
inline const Check delay = within(0, 10, "a time from 0 s to 10 s");
inline const Check per_cycle = within(1e-6, 1e6, "a number from 1e-6 to 1e6");
inline const Check share = within(1e-3, 1, "a share from 0.001 to 1");
inline const Check area = within(0, 1e15, "an area from 0 um2 to 1000 m2");
inline const Check energy = within(0, 1e12, "an energy from 0 pJ to 1 J");
inline const Check watts = within(0, 1e6, "a power from 0 W to 1 MW");

}  // namespace tandem::machine_checks
