// SPDX-License-Identifier: Apache-2.0
// Prediction and simulation against published measurements, through the command line. Errors are printed; the bounds
// are only ever tightened.
#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

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

/// Rows of one file, what they may be wrong by, and how many may be beyond what is modelled.
struct Case {
  std::string name, file;
  std::vector<std::string> filters;
  double most_mean_error = 0;  ///< of prediction and of simulation
  double least_tau = -1;
};

std::ostream& operator<<(std::ostream& stream, const Case& c) { return stream << c.name; }

class Reference : public testing::TestWithParam<Case> {};

TEST_P(Reference, AgreesWithin) {
  const auto folder = reference_folder();
  if (!folder) GTEST_SKIP() << "no reference data: set TANDEM_REFERENCE, or put it at ../shared/reference";
  const Case& c = GetParam();
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
    if (c.least_tau > -1) EXPECT_GE(errors["kendall_tau"].get<double>(), c.least_tau) << answer;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Measured, Reference,
    testing::Values(
        Case{"mi210_softmax", "measured/operators.csv", {"op=softmax", "device=AMD MI210"}, 1.0, 0.5},
        Case{"mi210_matmul", "measured/operators.csv", {"op=matmul", "device=AMD MI210"}, 1.0, 0.8},
        Case{"a100_layernorm", "measured/operators.csv", {"op=layernorm", "device=NVIDIA A100-80GB SXM"}, 1.0, -1},
        Case{"four_a100_all_reduce", "measured/collectives.csv", {"system=4x A100 node (LLMCompass)"}, 1.0, 0.9},
        Case{"korthikanti", "measured/training.csv", {"group=korthikanti"}, 1.0, 0.8}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tandem
