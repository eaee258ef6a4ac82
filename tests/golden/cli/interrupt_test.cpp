// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using nlohmann::json;

/// Long enough that a signal after a few hundred milliseconds always finds it at work.
std::vector<std::string> long_simulation(const std::string& trace) {
  return {"simulate", "--cluster",   "dgx-a100", "--model", "gpt3-175b", "--devices", "1024",
          "--tp",     "8",           "--pp",     "16",      "--gbs",     "1536",      "--mbs",
          "1",        "--recompute", "full",     "--trace", trace,       "--detail",  "tile"};
}

class Interrupt : public CommandTest {};

// ReaDDy issue 220: a run stopped at its time limit left a file that could not be opened.
TEST_F(Interrupt, AStoppedRunLeavesAReadableTrace) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string trace = path("t.h5");
    const CommandResult result = run_tandem_with_signal(long_simulation(trace), signal, 700);
    ASSERT_EQ(result.status, 130) << result.err;
    const CommandResult shown = run_tandem({"show", trace, "--json"});
    ASSERT_EQ(shown.status, 0) << shown.err;
    EXPECT_EQ(json::parse(shown.out)["complete"], false);
    EXPECT_EQ(run_tandem({"export", trace, "-o", path("t.json")}).status, 0);
  }
}

TEST_F(Interrupt, AKilledRunLeavesAReadableTrace) {
  const std::string trace = path("t.h5");
  const CommandResult result = run_tandem_with_signal(long_simulation(trace), SIGKILL, 1500);
  ASSERT_EQ(result.status, 128 + SIGKILL) << result.err;
  const CommandResult exported = run_tandem({"export", trace, "-o", path("t.json")});
  EXPECT_EQ(exported.status, 0) << exported.err;
  EXPECT_TRUE(json::parse(text_of_file(path("t.json")))["traceEvents"].is_array());
}

TEST_F(Interrupt, RowsThatRanAreKept) {
  std::string rows = "device,op,dtype,batch,M,N,K,latency_us,includes_launch_overhead\n";
  for (int i = 0; i < 400; ++i) rows += "any,matmul,fp16,1,4096,4096," + std::to_string(4096 + 64 * i) + ",600,no\n";
  const CommandResult result = run_tandem_with_signal(
      {"validate", "--against", write("rows.csv", rows), "--chip", "a100-80gb", "--csv", path("out.csv"), "--json"},
      SIGTERM, 1500);
  ASSERT_EQ(result.status, 130) << result.err;
  const json summary = json::parse(result.out);
  EXPECT_EQ(summary["rows"], 400);
  EXPECT_GT(summary["failed"].get<int>(), 0);
  EXPECT_TRUE(std::filesystem::exists(path("out.csv")));
}

}  // namespace
}  // namespace tandem
