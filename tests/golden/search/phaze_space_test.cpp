// SPDX-License-Identifier: Apache-2.0
// The shipped spaces of PHAZE's models hold exactly the architectures that PHAZE's public artifact (version 1.0,
// arXiv 2407.13143) lists: their number and, over them sorted and written as "tensor cores,vector cores,width,depth,
// global buffer in bytes" a line, their 64-bit FNV-1a hash.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "search/search_config.h"

namespace tandem {
namespace {

using Row = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

std::set<Row> rows_of(const std::string& name) {
  const SearchConfig config =
      load_search_config(std::filesystem::path(TANDEM_SOURCE_DIR) / "configs/search" / (name + ".yaml"));
  std::set<Row> rows;
  const DesignCounts counts = enumerate(config.space, [&](const DesignPoint& point) {
    const Chip& chip = point.chip;
    EXPECT_EQ(chip.vector.lanes, chip.tensor.rows);
    rows.emplace(chip.tensor.count, chip.vector.count, chip.tensor.rows, chip.tensor.cols, chip.glb.capacity.value());
  });
  EXPECT_EQ(counts.enumerated, 13 * 13 * 8 * 8 * 7);
  EXPECT_EQ(counts.contradictory, 0) << counts.first_contradiction;
  return rows;
}

std::uint64_t hash(const std::set<Row>& rows) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const auto& [tensor, vector, width, depth, buffer] : rows) {
    for (const char c : fmt::format("{},{},{},{},{}\n", tensor, vector, width, depth, buffer)) {
      value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  return value;
}

class PhazeSpace : public testing::TestWithParam<const char*> {};

TEST_P(PhazeSpace, IsThePublishedOne) {
  const std::set<Row> rows = rows_of(GetParam());
  EXPECT_EQ(rows.size(), 29'360U);
  EXPECT_EQ(hash(rows), 0x2f85135467541bab);
}

INSTANTIATE_TEST_SUITE_P(Models, PhazeSpace,
                         testing::Values("phaze-bert-large", "phaze-gpt2-xl", "phaze-gpt3-175b", "phaze-llama2-7b",
                                         "phaze-opt-1.3b"));

TEST(PhazeSpaceCores, AreSharedByManyArchitectures) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> tensor;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> vector;
  for (const auto& [tensor_cores, vector_cores, width, depth, buffer] : rows_of("phaze-llama2-7b")) {
    tensor.emplace(tensor_cores, width, depth, buffer);
    vector.emplace(vector_cores, width, buffer);
  }
  EXPECT_EQ(tensor.size(), 4186U);
  EXPECT_EQ(vector.size(), 697U);
}

}  // namespace
}  // namespace tandem
