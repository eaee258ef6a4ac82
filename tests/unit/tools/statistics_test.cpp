// SPDX-License-Identifier: Apache-2.0
#include "tools/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace tandem {
namespace {

/// Kendall's tau-b by its definition, over all pairs.
double tau_by_definition(const std::vector<double>& x, const std::vector<double>& y) {
  double concordant = 0, discordant = 0, only_x = 0, only_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      const double dx = x[i] - x[j], dy = y[i] - y[j];
      if (dx == 0 && dy == 0) continue;
      if (dx == 0) {
        ++only_x;
      } else if (dy == 0) {
        ++only_y;
      } else if (dx * dy > 0) {
        ++concordant;
      } else {
        ++discordant;
      }
    }
  }
  const double known = concordant + discordant;
  return (concordant - discordant) / std::sqrt((known + only_x) * (known + only_y));
}

TEST(KendallTau, KnowsOrderAndReverse) {
  const std::vector<double> up{1, 2, 3, 4}, down{4, 3, 2, 1};
  EXPECT_DOUBLE_EQ(kendall_tau(up, up), 1);
  EXPECT_DOUBLE_EQ(kendall_tau(up, down), -1);
  const std::vector<double> swapped{1, 3, 2, 4};  // five pairs in order, one not
  EXPECT_DOUBLE_EQ(kendall_tau(up, swapped), 4.0 / 6.0);
}

TEST(KendallTau, AgreesWithItsDefinitionTiesIncluded) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> x, y;
    for (auto n = random() % 40 + 2; n > 0; --n) {
      x.push_back(static_cast<double>(random() % 8));
      y.push_back(static_cast<double>(random() % 8));
    }
    const double expected = tau_by_definition(x, y);
    const double actual = kendall_tau(x, y);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(actual));
    } else {
      EXPECT_NEAR(actual, expected, 1e-12);
    }
  }
}

TEST(KendallTau, IsNotDefinedForConstantsAndRefusesNaN) {
  const std::vector<double> constant{1, 1, 1}, up{1, 2, 3}, one{1}, bad{1, NAN, 2};
  EXPECT_TRUE(std::isnan(kendall_tau(constant, up)));
  EXPECT_TRUE(std::isnan(kendall_tau(one, one)));
  EXPECT_THROW(kendall_tau(up, bad), std::invalid_argument);
}

TEST(KendallTau, IsFastForManyRows) {
  std::vector<double> x, y;
  std::mt19937 random(3);
  for (int i = 0; i < 300'000; ++i) {
    x.push_back(static_cast<double>(random()));
    y.push_back(static_cast<double>(random()));
  }
  EXPECT_NEAR(kendall_tau(x, y), 0, 0.01);  // quadratic work would not end within the test's time
}

TEST(Errors, AreFractionsOfTheReference) {
  const std::vector<double> estimates{11, 8, 30, 40}, references{10, 10, 30, 20};
  const ErrorSummary errors = summarise_errors(estimates, references);
  EXPECT_NEAR(errors.mean_abs_error, (0.1 + 0.2 + 0 + 1) / 4, 1e-12);
  EXPECT_NEAR(errors.median_abs_error, 0.15, 1e-12);
  EXPECT_NEAR(errors.max_abs_error, 1, 1e-12);
  EXPECT_TRUE(std::isnan(summarise_errors({}, {}).mean_abs_error));
}

}  // namespace
}  // namespace tandem
