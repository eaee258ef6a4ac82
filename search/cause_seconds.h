// SPDX-License-Identifier: Apache-2.0
// Small arithmetic on times by cause in seconds.
#pragma once

#include <algorithm>
#include <numeric>

#include "search/operator_times.h"

namespace tandem {

inline double& at(CauseSeconds& part, Cause cause) { return part[static_cast<std::size_t>(cause)]; }

inline Seconds sum(const CauseSeconds& part) { return Seconds(std::accumulate(part.begin(), part.end(), 0.0)); }

/// Time at HBM: what the peak would take, and the rest.
inline void add_memory(CauseSeconds& part, Seconds whole, Seconds at_peak) {
  const double ideal = std::min(whole.count(), at_peak.count());
  at(part, Cause::hbm_bandwidth) += ideal;
  at(part, Cause::hbm_overhead) += whole.count() - ideal;
}

/// Whole picoseconds by cause; what rounding loses or gains in sum goes to the largest part, so that the sum is `total`
/// rounded up.
TimeByCause rounded(const CauseSeconds& part, Seconds total);

}  // namespace tandem
