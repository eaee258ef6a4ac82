// SPDX-License-Identifier: Apache-2.0
#include "tools/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace tandem {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::int64_t pairs_of(std::int64_t n) { return n * (n - 1) / 2; }

/// Pairs that are equal under `same`, counted over runs of a sorted order.
template <typename Same>
std::int64_t tied_pairs(const std::vector<std::size_t>& order, const Same& same) {
  std::int64_t pairs = 0, run = 1;
  for (std::size_t i = 1; i <= order.size(); ++i) {
    if (i < order.size() && same(order[i - 1], order[i])) {
      ++run;
    } else {
      pairs += pairs_of(run);
      run = 1;
    }
  }
  return pairs;
}

/// Sorts values[begin, end) and returns how many pairs stood in the wrong order.
std::int64_t count_inversions(std::vector<double>& values, std::vector<double>& scratch, std::size_t begin,
                              std::size_t end) {
  if (end - begin < 2) return 0;
  const std::size_t middle = begin + (end - begin) / 2;
  std::int64_t inversions =
      count_inversions(values, scratch, begin, middle) + count_inversions(values, scratch, middle, end);
  std::size_t left = begin, right = middle, out = begin;
  while (left < middle || right < end) {
    if (right == end || (left < middle && values[left] <= values[right])) {
      scratch[out++] = values[left++];
    } else {
      inversions += static_cast<std::int64_t>(middle - left);
      scratch[out++] = values[right++];
    }
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(begin), scratch.begin() + static_cast<std::ptrdiff_t>(end),
            values.begin() + static_cast<std::ptrdiff_t>(begin));
  return inversions;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace

double relative_error(double estimate, double reference) { return std::abs(estimate - reference) / reference; }

ErrorSummary summarise_errors(std::span<const double> estimates, std::span<const double> references) {
  if (estimates.size() != references.size()) throw std::invalid_argument("estimates and references differ in number");
  if (estimates.empty()) return {kNaN, kNaN, kNaN, kNaN, kNaN};
  std::vector<double> errors;
  errors.reserve(estimates.size());
  for (std::size_t i = 0; i < estimates.size(); ++i) errors.push_back(relative_error(estimates[i], references[i]));
  ErrorSummary summary;
  for (std::size_t i = 0; i < estimates.size(); ++i) summary.bias += (estimates[i] - references[i]) / references[i];
  summary.bias /= static_cast<double>(estimates.size());
  summary.mean_abs_error = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  summary.max_abs_error = *std::max_element(errors.begin(), errors.end());
  summary.median_abs_error = median(std::move(errors));
  summary.kendall_tau = kendall_tau(estimates, references);
  return summary;
}

double kendall_tau(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) throw std::invalid_argument("lists differ in number");
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(x, finite) || !std::ranges::all_of(y, finite)) {
    throw std::invalid_argument("ranks need finite numbers");
  }
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (x[a] != x[b]) return x[a] < x[b];
    return y[a] != y[b] ? y[a] < y[b] : a < b;
  });
  const std::int64_t tied_x = tied_pairs(order, [&](auto a, auto b) { return x[a] == x[b]; });
  const std::int64_t tied_both = tied_pairs(order, [&](auto a, auto b) { return x[a] == x[b] && y[a] == y[b]; });

  std::vector<double> by_x, scratch(x.size());
  by_x.reserve(x.size());
  for (const std::size_t i : order) by_x.push_back(y[i]);
  const std::int64_t discordant = count_inversions(by_x, scratch, 0, by_x.size());

  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::int64_t tied_y = tied_pairs(order, [&](auto a, auto b) { return by_x[a] == by_x[b]; });

  const std::int64_t all = pairs_of(static_cast<std::int64_t>(x.size()));
  const double scale = std::sqrt(static_cast<double>(all - tied_x)) * std::sqrt(static_cast<double>(all - tied_y));
  if (!(scale > 0)) return kNaN;
  const std::int64_t balance = all - tied_x - tied_y + tied_both - 2 * discordant;
  return static_cast<double>(balance) / scale;
}

}  // namespace tandem
