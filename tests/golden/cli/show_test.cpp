// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

json shown(const std::vector<std::string>& words) {
  std::vector<std::string> command{"show"};
  command.insert(command.end(), words.begin(), words.end());
  command.emplace_back("--json");
  const CommandResult result = run_tandem(command);
  EXPECT_EQ(result.status, 0) << result.err;
  return json::parse(result.out);
}

// Jouppi et al., ISCA 2023 (arXiv 2304.01433), table 4: 275 TFLOP/s bf16, 1.2 TB/s, 32 GiB.
TEST(Show, TpuV4) {
  const json chip = shown({"tpu-v4"});
  EXPECT_NEAR(chip["peak_flops_per_second"]["bf16"].get<double>(), 275e12, 1e12);
  EXPECT_NEAR(chip["hbm_bytes_per_second"].get<double>(), 1.2e12, 0.05e12);
  EXPECT_EQ(chip["hbm_bytes"].get<std::int64_t>(), std::int64_t{32} << 30);
  EXPECT_NEAR(chip["ridge_point_flops_per_byte"]["bf16"].get<double>(),
              chip["peak_flops_per_second"]["bf16"].get<double>() / chip["hbm_bytes_per_second"].get<double>(), 1e-9);
}

// NVIDIA A100 data sheet: 312 TFLOP/s dense bf16. With the ridge computed from units that agree
// (astra-sim pull request 217: a roof that was 1e9 too low).
TEST(Show, A100) {
  const json chip = shown({"a100-80gb"});
  const double peak = chip["peak_flops_per_second"]["bf16"].get<double>();
  const double ridge = chip["ridge_point_flops_per_byte"]["bf16"].get<double>();
  EXPECT_NEAR(peak, 312e12, 1e12);
  EXPECT_GT(ridge, 140);
  EXPECT_LT(ridge, 170);
  EXPECT_GT(chip["area_mm2"]["total"].get<double>(), 0);
  const CommandResult text = run_tandem({"show", "a100-80gb"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("TFLOP/s"), HasSubstr("FLOP/B"), HasSubstr("mm2")));
}

// meta-llama/Llama-2-7b: 6,738,415,616 parameters.
TEST(Show, Llama2) {
  const json model = shown({"llama2-7b"});
  EXPECT_EQ(model["parameters"]["total"].get<std::int64_t>(), 6'738'415'616);
  EXPECT_THAT(run_tandem({"show", "llama2-7b"}).out, HasSubstr("6,738,415,616"));
  // Split over more devices, each holds less.
  const auto one = model["memory_bytes"][0]["parameters"].get<std::int64_t>();
  const json split = shown({"llama2-7b", "--tp", "4", "--pp", "2"});
  EXPECT_EQ(split["memory_bytes"].size(), 2U);
  EXPECT_LT(split["memory_bytes"][0]["parameters"].get<std::int64_t>(), one / 4);
}

TEST(Show, EveryShippedFile) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TANDEM_SOURCE_DIR "/configs")) {
    const auto extension = entry.path().extension();
    if (extension != ".yaml" && extension != ".json") continue;
    const std::string kind = entry.path().parent_path().filename();
    if (kind == "configs") continue;  // the table of names, which describes no machine
    const CommandResult result = run_tandem({"show", entry.path().string()});
    EXPECT_EQ(result.status, 0) << entry.path() << ": " << result.err;
    EXPECT_THAT(result.out, HasSubstr(kind)) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 20);
}

class ShowFiles : public CommandTest {};

TEST_F(ShowFiles, KeysOfAModelWithoutEffectAreListed) {
  std::string config = text_of_file(TANDEM_SOURCE_DIR "/configs/model/gpt2-xl.json");
  config.insert(config.find('{') + 1, "\"quantization_hint\": 4,");
  const CommandResult result = run_tandem({"show", write("config.json", config)});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("without effect"), HasSubstr("quantization_hint")));
  EXPECT_EQ(run_tandem({"show", folder_.string()}).out, result.out);  // the folder of a config.json means the same
}

TEST_F(ShowFiles, WhatIsNothingKnownIsRefused) {
  for (const std::string& file : {write("a.yaml", "colour: red\n"), write("b.yaml", "- 1\n"), write("c.yaml", ""),
                                  path("absent.yaml"), write("d.h5", "\x89HDF\r\n\x1a\n and nothing more")}) {
    const CommandResult result = run_tandem({"show", file});
    EXPECT_EQ(result.status, 2) << file;
    EXPECT_THAT(result.err, HasSubstr(file));
  }
}

}  // namespace
}  // namespace tandem
