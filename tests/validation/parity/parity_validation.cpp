// SPDX-License-Identifier: Apache-2.0
// Every placement instance of the reference data against the optimum that the peer's own solver found.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "search/parity/nest_placement.h"
#include "search/parity/phaze_placement.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

fs::path reference() {
  const char* const chosen = std::getenv("TANDEM_REFERENCE");
  return chosen != nullptr ? fs::path(chosen) : fs::path(TANDEM_SOURCE_DIR) / ".." / "shared" / "reference";
}

/// First columns of a CSV without quoted commas before them, by row name.
std::map<std::string, std::vector<std::string>> first_columns(const fs::path& file) {
  std::map<std::string, std::vector<std::string>> rows;
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    rows[row.at(0)] = row;
  }
  return rows;
}

TEST(PhazeParity, EveryInstance) {
  const fs::path folder = reference() / "phaze";
  if (!fs::exists(folder)) GTEST_SKIP() << "no reference data at " << folder;
  int solved = 0;
  for (const auto& [name, row] : first_columns(folder / "placement_expected.csv")) {
    SCOPED_TRACE(name);
    const fs::path file = folder / "placement_instances" / (name + ".json");
    if (row.at(1) == "invalid_input") {
      EXPECT_THROW((void)load_phaze_instance(file), ConfigError);
      continue;
    }
    const ParityPlan plan = solve_phaze(load_phaze_instance(file));
    if (row.at(1) == "peer_refuses") continue;
    ASSERT_EQ(plan.feasible, row.at(1) == "yes");
    if (!plan.feasible) {
      EXPECT_GT(plan.worst_layer_bytes, 0);
      continue;
    }
    const double expected = std::stod(row.at(2));
    EXPECT_NEAR(plan.time / expected, 1.0, 1e-9);
    EXPECT_EQ(plan.stages.size(), std::stoul(row.at(3)));
    ++solved;
  }
  EXPECT_GT(solved, 40);
}

TEST(NestParity, EveryInstance) {
  const fs::path folder = reference() / "nest";
  if (!fs::exists(folder)) GTEST_SKIP() << "no reference data at " << folder;
  int solved = 0;
  for (const auto& [name, row] : first_columns(folder / "placement_expected.csv")) {
    SCOPED_TRACE(name);
    const ParityPlan plan = solve_nest(load_nest_instance(folder / "placement_instances" / (name + ".json.xz")));
    ASSERT_EQ(plan.feasible, !row.at(1).empty());
    if (!plan.feasible) continue;
    EXPECT_NEAR(plan.time / std::stod(row.at(1)), 1.0, 1e-9);
    EXPECT_EQ(plan.stages.size(), std::stoul(row.at(3)));
    ++solved;
  }
  EXPECT_GT(solved, 20);
}

}  // namespace
}  // namespace tandem
