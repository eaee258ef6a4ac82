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

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Case& c) { return stream << c.name; }

std::string name_of_case(const testing::TestParamInfo<Case>& instance) { return instance.param.name; }

void expect_agreement(const Case& c) {
  const auto folder = reference_folder();
  if (!folder) GTEST_SKIP() << "no reference data: set TANDEM_REFERENCE, or put it at ../shared/reference";
  std::vector<std::string> words{"validate", "--against", *folder + "/" + c.file, "--json", "--quiet"};
  for (const std::string& filter : c.filters) {
    words.emplace_back("--where");
    words.push_back(filter);
  }
  const CommandResult result = run_tandem(words);
  ASSERT_EQ(result.status, 0) << result.err;
  const json summary = json::parse(result.out);
  EXPECT_GT(summary["rows"].get<int>(), 0);
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

}  // namespace tandem
