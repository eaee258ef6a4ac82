// SPDX-License-Identifier: Apache-2.0
#include "search/search_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "arch/area.h"
#include "arch/config.h"
#include "arch/support/error.h"
#include "search/run_directory.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SearchConfigFile : public testing::Test {
 protected:
  SearchConfigFile() : folder_(fs::temp_directory_path() / ("tandem_config_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~SearchConfigFile() override { fs::remove_all(folder_); }

  fs::path write(const std::string& text) const {
    std::ofstream(folder_ / "search.yaml") << text;
    return folder_ / "search.yaml";
  }
  std::string complaints(const std::string& text) const {
    try {
      load_search_config(write(text));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return {};
  }

  fs::path folder_;
};

TEST_F(SearchConfigFile, TheShippedSearchIsComplete) {
  const SearchConfig config = load_search_config(find_config("search", "llama2-7b"));
  EXPECT_EQ(config.model.layers, 32);
  EXPECT_EQ(config.cluster.devices(), 64);
  EXPECT_EQ(config.plans.devices, 64);
  EXPECT_GT(config.space.size(), 50);
  ASSERT_TRUE(config.baseline.has_value());
  EXPECT_TRUE(problems(config.baseline->plan, config.model, 64).empty());
  // The baseline itself is within the limit that the candidates must keep.
  ASSERT_TRUE(config.space.max_area.has_value());
  EXPECT_EQ(estimate_area(config.baseline->cluster.chip, config.space.technology).total(), *config.space.max_area);
}

TEST_F(SearchConfigFile, TheResolvedConfigReadsBackAsTheSame) {
  const SearchConfig config = load_search_config(find_config("search", "llama2-7b"));
  RunDirectory run(folder_ / "run", ExistingRun::refuse, config, "none");
  const SearchConfig again = load_search_config(folder_ / "run/config.resolved.yaml");
  EXPECT_EQ(again.model, config.model);
  EXPECT_EQ(fingerprint(again, "none"), fingerprint(config, "none"));
}

TEST_F(SearchConfigFile, EveryMistakeIsToldAtOnce) {
  const std::string text = complaints(R"(
model: llama2-7c
cluster: tpu-v4-pod
devices: 64
training: {global_batch: 0, sequence: 4096, dtype: bf17}
placement:
  tp: [1, -2]
  recompute: [some]
  scedule: [1f1b]
architecture:
  axes:
    tensor_cores.coumt: [4, 8]
    tensor_cores.rows: {from: 8, to: 4, step: 1}
  limits: {max_area: 600}
validate: {top: 0}
)");
  for (const char* part : {"model", "global_batch", "dtype", "placement.tp", "recompute", "scedule",
                           "tensor_cores.coumt", "tensor_cores.rows", "max_area", "top"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, HasSubstr("search.yaml:2:"));
}

TEST_F(SearchConfigFile, TheBaselineMustDoTheSameTraining) {
  std::ofstream(folder_ / "plan.yaml") << "tp: 8\ndp: 8\nglobal_batch: 64\nsequence: 4096\n";
  EXPECT_THAT(complaints(R"(
model: llama2-7b
cluster: tpu-v4-pod
devices: 64
training: {global_batch: 512, sequence: 4096}
baseline: {plan: plan.yaml}
)"),
              HasSubstr("trains 64 sequences"));
}

TEST_F(SearchConfigFile, AnEmptyOrBinaryFileIsRefused) {
  EXPECT_THAT(complaints(""), HasSubstr("model"));
  EXPECT_FALSE(complaints(std::string("\0\1\2", 3)).empty());
}

}  // namespace
}  // namespace tandem
