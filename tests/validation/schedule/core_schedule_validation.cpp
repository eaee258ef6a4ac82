// SPDX-License-Identifier: Apache-2.0
// Every operator schedule of the reference data against its optimum.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "search/core_schedule.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

fs::path reference() {
  const char* const chosen = std::getenv("TANDEM_REFERENCE");
  return chosen != nullptr ? fs::path(chosen) : fs::path(TANDEM_SOURCE_DIR) / ".." / "shared" / "reference";
}

CoreUse use_of(const std::string& type) {
  if (type == "TC") return CoreUse::tensor;
  if (type == "VC") return CoreUse::vector;
  return type == "TCandVC" ? CoreUse::fused : CoreUse::none;
}

CoreProblem problem_of(const nlohmann::json& row) {
  CoreProblem problem;
  problem.tensor_cores = row.at("num_tc").get<std::int64_t>();
  problem.vector_cores = row.at("num_vc").get<std::int64_t>();
  for (const auto& node : row.at("nodes")) {
    problem.operators.push_back(
        {use_of(node.at("type").get<std::string>()), node.at("lat").get<double>(), node.at("intra").get<double>()});
  }
  for (const auto& edge : row.at("edges")) problem.edges.emplace_back(edge.at(0), edge.at(1));
  return problem;
}

TEST(CoreScheduleReference, EveryOptimum) {
  const fs::path file = reference() / "phaze" / "operator_schedule_optima.json";
  if (!fs::exists(file)) GTEST_SKIP() << "no reference data at " << file;
  std::ifstream in(file);
  const auto rows = nlohmann::json::parse(in);
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    SCOPED_TRACE(row.at("id").dump());
    const CoreSchedule schedule = schedule_on_cores(problem_of(row), {.nodes = 10'000'000});
    EXPECT_DOUBLE_EQ(schedule.makespan, row.at("optimum").get<double>());
    EXPECT_DOUBLE_EQ(schedule.lower_bound, schedule.makespan);
  }
}

}  // namespace
}  // namespace tandem
