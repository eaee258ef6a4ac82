// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using nlohmann::json;

/// Three layers in a row; each takes 1 s forward and 2 s backward and holds 10 bytes of parameters.
std::string chain(double memory, const std::string& more = {}) {
  std::string nodes;
  for (int id = 0; id < 3; ++id) {
    nodes +=
        fmt::format(R"({}{{"id":{},"parameterSize":10,"activationSize":4,"optimalLatencyFw":1,"optimalLatencyBw":2,)"
                    R"("isTensorParallelized":false}})",
                    id > 0 ? "," : "", id);
  }
  return fmt::format(
      R"({{"maxMemoryPerDevice":{},"maxDevices":3,"bandwidth":1e9,"mbsInBatch":6,"activationRecomputation":false,)"
      R"("optimizerAlgorithm":"SGD","nodes":{{"1":[{}]}},"edges":{{"1":[{{"sourceId":0,"destId":1,"communicationCost":0}},)"
      R"({{"sourceId":1,"destId":2,"communicationCost":0}}]}}{}}})",
      memory, nodes, more);
}

using Place = CommandTest;

TEST_F(Place, FindsTheOptimumAndItsStages) {
  // One stage, three replicas: 9 s x 2 microbatches and the exchange of 30 bytes. Three stages: 3 s x (6 + 2).
  const CommandResult result = run_tandem({"place", write("a.json", chain(1000)), "--json"});
  ASSERT_EQ(result.status, 0) << result.err;
  const json answer = json::parse(result.out);
  EXPECT_TRUE(answer["feasible"]);
  EXPECT_NEAR(answer["time_per_batch"].get<double>(), 18 + 4.0 * 2 / 3 * 30 / 1e9, 1e-9);
  EXPECT_EQ(answer["unit"], "s");
  EXPECT_EQ(answer["num_stages"], 1);
  EXPECT_EQ(answer["data_parallel"], 3);
  EXPECT_EQ(answer["stages"][0]["layers"], json({0, 1, 2}));
  const CommandResult text = run_tandem({"place", path("a.json")});
  EXPECT_NE(text.out.find("0 to 2"), std::string::npos) << text.out;
}

TEST_F(Place, SaysWhichLayerDoesNotFit) {
  const CommandResult result = run_tandem({"place", write("a.json", chain(20)), "--json"});
  EXPECT_EQ(result.status, 1);
  const json answer = json::parse(result.out);
  EXPECT_FALSE(answer["feasible"]);
  EXPECT_EQ(answer["worst_layer_bytes"], 24);  // parameters and gradients, and its activations
}

TEST_F(Place, RefusesWhatIsNoInstance) {
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"), std::string(100000, '['),
                                  chain(1000).substr(0, 200), chain(-1), std::string("{\"nodes\":{}}")}) {
    const CommandResult result = run_tandem({"place", write("bad.json", text)});
    EXPECT_EQ(result.status, 2) << text.substr(0, 60);
    EXPECT_NE(result.err.find("bad.json"), std::string::npos) << result.err;
  }
  EXPECT_EQ(run_tandem({"place"}).status, 2);
  EXPECT_EQ(run_tandem({"place", path("absent.json")}).status, 2);
  EXPECT_EQ(run_tandem({"place", write("bad.json.xz", "not compressed")}).status, 2);
  EXPECT_EQ(run_tandem({"place", write("a.json", chain(1000)), "--objective", "best"}).status, 2);
}

}  // namespace
}  // namespace tandem
