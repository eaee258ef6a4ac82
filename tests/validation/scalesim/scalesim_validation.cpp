// SPDX-License-Identifier: Apache-2.0
// Every stall-free run of SCALE-Sim, exactly: cycles (its last index, plus one) and accesses, predicted and simulated.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using nlohmann::json;

std::optional<std::string> reference_file() {
  std::vector<std::string> folders{std::string(TANDEM_SOURCE_DIR) + "/../shared/reference",
                                   std::string(TANDEM_SOURCE_DIR) + "/../../shared/reference"};
  if (const char* given = std::getenv("TANDEM_REFERENCE"); given != nullptr && *given != '\0') folders = {given};
  for (const std::string& folder : folders) {
    const std::string file = folder + "/scalesim/scalesim.csv";
    if (std::filesystem::is_regular_file(file)) return file;
  }
  return std::nullopt;
}

class ScaleSimRuns : public testing::TestWithParam<const char*> {};

TEST_P(ScaleSimRuns, StallFreeOnesAreMetExactly) {
  const auto file = reference_file();
  if (!file) GTEST_SKIP() << "no reference data: set TANDEM_REFERENCE, or put it at ../shared/reference";
  const CommandResult result = run_tandem({"validate", "--against", *file, "--where", "mode=CALC", "--where",
                                           std::string("dataflow=") + GetParam(), "--json", "--quiet"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json summary = json::parse(result.out);
  EXPECT_GT(summary["rows"].get<int>(), 40);
  for (const char* answer : {"predicted", "simulated"}) {
    EXPECT_EQ(summary[answer]["max_abs_error"].get<double>(), 0) << answer;
    EXPECT_EQ(summary["metrics"]["sram_bytes"][answer]["max_abs_error"].get<double>(), 0) << answer;
  }
  for (const char* count : {"ifmap_reads", "filter_reads", "ofmap_writes"}) {
    EXPECT_EQ(summary["metrics"][count]["predicted"]["max_abs_error"].get<double>(), 0) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Dataflows, ScaleSimRuns, testing::Values("ws", "os", "is"));

}  // namespace
}  // namespace tandem
