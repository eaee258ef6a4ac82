// SPDX-License-Identifier: Apache-2.0
// How well a list of estimates agrees with a list of references.
#pragma once

#include <cstdint>
#include <span>

namespace tandem {

struct ErrorSummary {
  double mean_abs_error = 0;  ///< of |estimate - reference| / reference, fractions
  double median_abs_error = 0;
  double max_abs_error = 0;
  double bias = 0;         ///< mean of (estimate - reference) / reference
  double kendall_tau = 0;  ///< rank correlation; NaN where fewer than two rows differ
};

/// |estimate - reference| / reference. References must be positive.
double relative_error(double estimate, double reference);

/// Over rows that ran; all NaN for none.
ErrorSummary summarise_errors(std::span<const double> estimates, std::span<const double> references);

/// Kendall's tau-b with ties, in O(n log n); NaN if either list is constant.
/// Source: Knight, "A computer method for calculating Kendall's tau with ungrouped data", JASA 61(314), 1966.
double kendall_tau(std::span<const double> x, std::span<const double> y);

}  // namespace tandem
