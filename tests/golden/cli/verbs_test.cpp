// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// Small enough to be simulated in a fraction of a second.
constexpr std::string_view kSmallModel =
    R"({"model_type": "gpt2", "n_layer": 4, "n_embd": 256, "n_head": 8, "n_positions": 256, "vocab_size": 1024})";

double sum_of(const json& parts) {
  double sum = 0;
  for (const auto& [name, part] : parts.items()) sum += part.get<double>();
  return sum;
}

class Verbs : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    model_ = write("config.json", kSmallModel);
  }
  [[nodiscard]] std::vector<std::string> scenario(const std::string& verb,
                                                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{verb, "--cluster", "dgx-a100", "--model", model_, "--tp",  "2", "--pp",
                                   "2",  "--devices", "8",        "--gbs",   "16",   "--mbs", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string model_;
};

TEST_F(Verbs, PredictAddsUp) {
  const CommandResult result = run_tandem(scenario("predict", {"--json"}));
  ASSERT_EQ(result.status, 0) << result.err;
  const json answer = json::parse(result.out);
  const json& iteration = answer["predicted"]["iteration"];
  const double time = iteration["time_s"].get<double>();
  EXPECT_GT(time, 0);
  EXPECT_NEAR(sum_of(iteration["time_by_cause_s"]), time, 1e-11);
  EXPECT_NEAR(iteration["tokens_per_second"].get<double>(), 16 * 256 / time, 1e-6 * 16 * 256 / time);
  EXPECT_LE(iteration["mfu"].get<double>(), 1);
  EXPECT_EQ(answer["predicted"]["stages"].size(), 2U);
  EXPECT_EQ(answer["plan"]["dp"], 2);
  for (const json& op : answer["predicted"]["operators"]) EXPECT_LE(op["utilisation"].get<double>(), 1) << op["name"];
}

TEST_F(Verbs, NotesGoToStandardErrorAndQuietSilencesThem) {
  const CommandResult loud = run_tandem(scenario("predict", {"--json"}));
  EXPECT_THAT(loud.err, AllOf(HasSubstr("note: dp 2"), HasSubstr("note: --sequence is not given: 256")));
  const CommandResult quiet = run_tandem(scenario("predict", {"--json", "--quiet"}));
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, loud.out);
}

TEST_F(Verbs, APlanFileAndFlagsSayTheSame) {
  const std::string plan =
      write("plan.yaml", "tp: 2\npp: 2\nglobal_batch: 16\nmicrobatch: 2\nsequence: 256\nstage_layers: [2, 2]\n");
  const CommandResult from_file =
      run_tandem({"predict", "--cluster", "dgx-a100", "--model", model_, "--devices", "8", "--plan", plan, "--json"});
  ASSERT_EQ(from_file.status, 0) << from_file.err;
  EXPECT_EQ(from_file.out, run_tandem(scenario("predict", {"--json"})).out);
}

TEST_F(Verbs, AFlagOverThePlanIsAnnounced) {
  const std::string plan = write("plan.yaml", "tp: 2\npp: 2\ndp: 2\nglobal_batch: 16\nmicrobatch: 2\nsequence: 256\n");
  const CommandResult result = run_tandem({"predict", "--cluster", "dgx-a100", "--model", model_, "--plan", plan,
                                           "--micro-batch-size", "1", "--recompute", "full"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("--mbs: 1 replaces 2"), HasSubstr("--recompute: full replaces none")));
}

TEST_F(Verbs, AFieldOfTheChipCanBeReplaced) {
  const auto time = [](const CommandResult& result) {
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out)["predicted"]["iteration"]["time_s"].get<double>();
  };
  // A cluster whose host is never in the way.
  const std::vector<std::string> predict{"predict", "--cluster", "a100x4-nvlink", "--model", model_,
                                         "--gbs",   "16",        "--json"};
  const double base = time(run_tandem(predict));
  std::vector<std::string> slower = predict;
  slower.insert(slower.end(), {"--set", "chip.clock=700 MHz"});
  EXPECT_GT(time(run_tandem(slower)), base);
  const CommandResult wrong = run_tandem(scenario("predict", {"--set", "chip.clok=1 GHz"}));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("clock"));
  EXPECT_EQ(run_tandem(scenario("predict", {"--set", "chip.clock"})).status, 2);
}

// SimAI issue 202: 1472 devices, tensor 8, pipeline 8 leave 23 data parallel ranks, which 32 sequences do not fill.
TEST_F(Verbs, ABatchThatDoesNotDivideIsRefused) {
  const CommandResult result = run_tandem({"predict", "--cluster", "dgx-a100", "--devices", "1472", "--model",
                                           "llama2-7b", "--tp", "8", "--pp", "8", "--gbs", "32", "--mbs", "1"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("32"), HasSubstr("23"), HasSubstr("46")));
}

// Megatron-LM issue 1304: 30 layers over 4 stages lost two.
TEST_F(Verbs, StagesThatLoseLayersAreRefused) {
  const CommandResult result = run_tandem(scenario("predict", {"--stage-layers", "1,2"}));
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("3"), HasSubstr("4")));
}

TEST_F(Verbs, WhatDoesNotFitIsNoError) {
  const CommandResult result =
      run_tandem({"predict", "--cluster", "dgx-a100", "--devices", "8", "--model", "gpt3-175b", "--gbs", "8"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("cannot"), HasSubstr("GiB")));
}

TEST_F(Verbs, SimulateWritesATraceThatShowAndExportRead) {
  const std::string trace = path("t.h5");
  const CommandResult simulated = run_tandem(scenario("simulate", {"--trace", trace, "--detail", "tile", "--json"}));
  ASSERT_EQ(simulated.status, 0) << simulated.err;
  const json answer = json::parse(simulated.out);
  const json& iteration = answer["simulated"]["iteration"];
  EXPECT_NEAR(sum_of(iteration["time_by_cause_s"]), iteration["time_s"].get<double>(), 1e-11);

  const CommandResult shown = run_tandem({"show", trace, "--json"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  const json summary = json::parse(shown.out);
  EXPECT_EQ(summary["complete"], true);
  EXPECT_GT(summary["events"].get<int>(), 0);
  EXPECT_NEAR(summary["span_ps"].get<double>() * 1e-12, iteration["time_s"].get<double>(),
              0.05 * iteration["time_s"].get<double>());

  const CommandResult exported = run_tandem({"export", trace, "--format", "perfetto", "-o", path("t.json")});
  ASSERT_EQ(exported.status, 0) << exported.err;
  const json timeline = json::parse(text_of_file(path("t.json")));
  double last = 0;
  for (const json& event : timeline["traceEvents"]) {
    if (event["ph"] == "X") last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
  }
  EXPECT_NEAR(last * 1e-6, iteration["time_s"].get<double>(), 0.05 * iteration["time_s"].get<double>());
  EXPECT_EQ(run_tandem({"export", trace, "--format", "csv", "-o", path("tables")}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(path("tables/events.csv")));
}

TEST_F(Verbs, RunsRepeatToTheBit) {
  const CommandResult first = run_tandem(scenario("simulate", {"--json"}));
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, run_tandem(scenario("simulate", {"--json"})).out);
}

TEST_F(Verbs, IdealEffectsAreNeverSlower) {
  const auto time = [this](const std::vector<std::string>& more) {
    std::vector<std::string> words{"--json"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = run_tandem(scenario("simulate", words));
    EXPECT_EQ(result.status, 0) << result.err;
    return json::parse(result.out)["simulated"]["iteration"]["time_s"].get<double>();
  };
  EXPECT_LT(time({"--ideal", "hbm,links,launch"}), time({}));
  EXPECT_EQ(run_tandem(scenario("simulate", {"--fold", "--no-fold"})).status, 2);
  const CommandResult wrong = run_tandem(scenario("simulate", {"--ideal", "hbn"}));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean hbm?"));
}

TEST_F(Verbs, ValidateComparesAtEveryLevel) {
  const CommandResult result = run_tandem(scenario("validate", {"--json", "--csv", path("c.csv")}));
  ASSERT_EQ(result.status, 0) << result.err;
  const json comparison = json::parse(result.out)["comparison"];
  for (const char* level : {"operators", "layers", "stages"}) EXPECT_GT(comparison[level].size(), 0U) << level;
  const json& iteration = comparison["iteration"];
  const double predicted = iteration["predicted_s"].get<double>(), simulated = iteration["simulated_s"].get<double>();
  EXPECT_NEAR(iteration["error"].get<double>(), (predicted - simulated) / simulated, 1e-9);
  double missed = 0;
  for (const json& cause : comparison["missed_by_cause"]) missed += cause["missed_s"].get<double>();
  EXPECT_NEAR(missed, simulated - predicted, 1e-11);  // the causes explain the whole difference
  for (const json& op : comparison["operators"]) {
    double parts = 0;
    for (const json& cause : op["missed_by_cause"]) parts += cause["missed_s"].get<double>();
    EXPECT_NEAR(parts, op["simulated_s"].get<double>() - op["predicted_s"].get<double>(), 1e-11) << op["name"];
  }
  EXPECT_EQ(comparison["ablation"].size(), 4U);
  for (const json& effect : comparison["ablation"]) EXPECT_TRUE(effect.contains("time_s")) << effect.dump();
  EXPECT_THAT(text_of_file(path("c.csv")), HasSubstr("iteration,iteration,"));
}

}  // namespace
}  // namespace tandem
