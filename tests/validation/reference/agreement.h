// SPDX-License-Identifier: Apache-2.0
// Prediction and simulation against published measurements, through the command line.
#pragma once

#include <gtest/gtest.h>

#include <iosfwd>
#include <string>
#include <vector>

namespace tandem {

/// Rows of one file, and what they may be wrong by. The bounds are only ever tightened.
struct Case {
  std::string name, file;
  std::vector<std::string> filters;
  double most_mean_error = 0;  ///< of prediction and of simulation
  double least_tau = -1;       ///< rank correlation; -1: not asked
};
std::ostream& operator<<(std::ostream& stream, const Case& c);
std::string name_of_case(const testing::TestParamInfo<Case>& instance);

/// Runs the case, prints its errors and holds them against the bounds; skips where there is no reference data.
void expect_agreement(const Case& c);

/// Bounds on the simulation alone: of the main quantity, and of another one.
struct SimulatedCase {
  std::string name, file;
  std::vector<std::string> filters;
  double most_mean_error = 0, most_error = 0;
  std::string metric;
  double most_metric_error = 0;  ///< in the mean
};
std::ostream& operator<<(std::ostream& stream, const SimulatedCase& c);
void expect_simulated_agreement(const SimulatedCase& c);

}  // namespace tandem
