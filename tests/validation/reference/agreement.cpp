// SPDX-License-Identifier: Apache-2.0
#include "tests/validation/reference/agreement.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using nlohmann::json;

std::optional<std::string> reference_folder() {
  if (const char* given = std::getenv("TANDEM_REFERENCE"); given != nullptr && *given != '\0') return given;
  for (const char* beside : {"/../shared/reference", "/../../shared/reference"}) {
    const std::string folder = std::string(TANDEM_SOURCE_DIR) + beside;
    if (std::filesystem::is_directory(folder)) return folder;
  }
  return std::nullopt;
}

constexpr const char* kNoData = "no reference data: set TANDEM_REFERENCE, or put it at ../shared/reference";

/// What `validate --against` says of the rows that the filters leave; null if it did not run.
json summary_of(const std::string& file, const std::vector<std::string>& filters) {
  std::vector<std::string> words{"validate", "--against", file, "--json", "--quiet"};
  for (const std::string& filter : filters) {
    words.emplace_back("--where");
    words.push_back(filter);
  }
  const CommandResult result = run_tandem(words);
  EXPECT_EQ(result.status, 0) << result.err;
  if (result.status != 0) return nullptr;
  json summary = json::parse(result.out);
  EXPECT_GT(summary["rows"].get<int>(), 0);
  return summary;
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Case& c) { return stream << c.name; }
std::ostream& operator<<(std::ostream& stream, const SimulatedCase& c) { return stream << c.name; }

std::string name_of_case(const testing::TestParamInfo<Case>& instance) { return instance.param.name; }

void expect_agreement(const Case& c) {
  const auto folder = reference_folder();
  if (!folder) GTEST_SKIP() << kNoData;
  const json summary = summary_of(*folder + "/" + c.file, c.filters);
  ASSERT_TRUE(summary.is_object());
  for (const char* answer : {"predicted", "simulated"}) {
    const json& errors = summary[answer];
    const double mean = errors["mean_abs_error"].get<double>();
    std::printf("%-24s %s: mean %5.1f %%, median %5.1f %%, max %6.1f %%\n", c.name.c_str(), answer, 100 * mean,
                100 * errors["median_abs_error"].get<double>(), 100 * errors["max_abs_error"].get<double>());
    EXPECT_LE(mean, c.most_mean_error) << answer;
    if (c.least_tau > -1) {
      EXPECT_GE(errors["kendall_tau"].get<double>(), c.least_tau) << answer;
    }
  }
}

void expect_simulated_agreement(const SimulatedCase& c) {
  const auto folder = reference_folder();
  if (!folder) GTEST_SKIP() << kNoData;
  const json summary = summary_of(*folder + "/" + c.file, c.filters);
  ASSERT_TRUE(summary.is_object());
  EXPECT_EQ(summary["failed"].get<int>(), 0);
  const double mean = summary["simulated"]["mean_abs_error"].get<double>();
  const double most = summary["simulated"]["max_abs_error"].get<double>();
  const double metric = summary["metrics"][c.metric]["simulated"]["mean_abs_error"].get<double>();
  std::printf("%-24s simulated: mean %5.2f %%, max %5.2f %%, %s mean %5.2f %%; predicted: mean %5.1f %%\n",
              c.name.c_str(), 100 * mean, 100 * most, c.metric.c_str(), 100 * metric,
              100 * summary["predicted"]["mean_abs_error"].get<double>());
  EXPECT_LE(mean, c.most_mean_error);
  EXPECT_LE(most, c.most_error);
  EXPECT_LE(metric, c.most_metric_error) << c.metric;
}

}  // namespace tandem
