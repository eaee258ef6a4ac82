// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// Made-up reference values: what is tested is the bookkeeping.
const std::string kOperators =
    "id,device,op,dtype,batch,M,N,K,elements,latency_us,includes_launch_overhead\r\n"
    "a,any,matmul,fp16,1,1024,1024,1024,,10,no\r\n"
    "b,any,matmul,fp16,1,4096,4096,4096,,600,no\r\n"
    "c,any,softmax,fp16,1,1024,1024,,,20,\"yes, timed from the host\"\r\n"
    "d,any,gelu,fp16,1,,,,1048576,20,no\r\n"
    "e,any,fold_space,fp16,1,1,1,1,,20,no\r\n"
    "f,any,matmul,fp16,1,1024,,1024,,10,no\r\n";

class Against : public CommandTest {
 protected:
  [[nodiscard]] CommandResult operators(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"validate", "--against", write("ops.csv", kOperators), "--chip", "a100-80gb"};
    words.insert(words.end(), more.begin(), more.end());
    return run_tandem(words);
  }
};

TEST_F(Against, JsonHasExactlyTheseKeys) {
  const CommandResult result = operators({"--json", "--where", "op=matmul", "--where", "id=a"});
  EXPECT_EQ(result.status, 0) << result.err;
  const json summary = json::parse(result.out);
  EXPECT_EQ(summary.size(), 5U);
  EXPECT_EQ(summary["rows"], 1);
  EXPECT_EQ(summary["failed"], 0);
  for (const char* answer : {"predicted", "simulated"}) {
    EXPECT_EQ(summary[answer].size(), 4U);
    EXPECT_GE(summary[answer]["mean_abs_error"].get<double>(), 0);
    EXPECT_TRUE(summary[answer].contains("median_abs_error"));
    EXPECT_TRUE(summary[answer].contains("max_abs_error"));
    EXPECT_TRUE(summary[answer]["kendall_tau"].is_null());  // one row has no rank
  }
  EXPECT_TRUE(summary["metrics"].is_object());
}

TEST_F(Against, RowsThatCannotRunAreCountedByReason) {
  const CommandResult result = operators({"--csv", path("out.csv")});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("4 of 6 rows ran"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("unknown operator"), HasSubstr("fold_space"), HasSubstr("line 6"),
                                HasSubstr("ops.csv:7")));
  const std::string csv = text_of_file(path("out.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);
  EXPECT_THAT(csv, AllOf(HasSubstr("latency_s_predicted,latency_s_simulated,latency_s_reference"),
                         HasSubstr("\"yes, timed from the host\"")));
}

TEST_F(Against, ErrorsFollowFromTheWrittenRows) {
  const CommandResult result = operators({"--json", "--csv", path("out.csv"), "--where", "op=matmul", "-j", "1"});
  const json summary = json::parse(result.out);
  EXPECT_EQ(summary["rows"], 3);
  EXPECT_EQ(summary["failed"], 1);
  EXPECT_DOUBLE_EQ(summary["simulated"]["kendall_tau"].get<double>(), 1);  // the larger product takes longer
  EXPECT_EQ(result.out,
            operators({"--json", "--where", "op=matmul", "-j", "3"}).out);  // whatever the number of workers
}

TEST_F(Against, FiltersNameColumnsAndValues) {
  const CommandResult column = operators({"--where", "opp=matmul"});
  EXPECT_EQ(column.status, 2);
  EXPECT_THAT(column.err, HasSubstr("did you mean op?"));
  const CommandResult value = operators({"--where", "op=matmull"});
  EXPECT_EQ(value.status, 2);
  EXPECT_THAT(value.err, HasSubstr("did you mean matmul?"));
  EXPECT_EQ(operators({"--where", "op"}).status, 2);
}

TEST_F(Against, FlagsWithoutEffectAreRefused) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--tp", "2"}, {"--model", "gpt2-xl"}, {"--trace", "t.h5"}}) {
    EXPECT_EQ(operators(flags).status, 2) << flags.front();
  }
}

TEST_F(Against, CollectivesNeverBeatTheirLinks) {
  const std::string rows = write(
      "c.csv",
      "id,system,ranks,ranks_per_node,collective,message_bytes,time_us\n"
      "a,any,8,8,all_reduce,1073741824,8000\nb,any,2,1,send_recv,1048576,100\nc,any,16,8,all_gather,67108864,1000\n");
  const CommandResult result =
      run_tandem({"validate", "--against", rows, "--cluster", "dgx-a100", "--json", "--csv", path("o.csv")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_TRUE(json::parse(result.out)["metrics"].contains("bandwidth_bytes_per_s"));
}

TEST_F(Against, ThePictureHasADotForEachRowAndAnswer) {
  EXPECT_EQ(operators({"--plot", path("out.svg"), "--where", "id=a"}).status, 0);
  const std::string svg = text_of_file(path("out.svg"));
  std::size_t dots = 0;
  for (auto at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++dots;
  EXPECT_EQ(dots, 2U);
}

TEST_F(Against, TrainingRowsRun) {
  const std::string rows =
      write("t.csv",
            "group,model,family,layers,hidden,heads,kv_heads,ffn,gated_mlp,seq,vocab,hardware,accelerators,tp,pp,"
            "interleave_v,micro_batch,"
            "global_batch,schedule,recompute,sequence_parallel,optimizer_sharding,precision,attention_impl,network,"
            "iteration_time_s\n"
            "g,GPT,gpt,4,1024,16,16,4096,no,1024,50257,any,8,2,2,1,2,16,1F1B,full,no,,fp16 mixed,unfused,any,0.1\n"
            "g,GPT,gpt,4,1024,16,16,4096,no,1024,50257,any,8,2,2,1,2,16,ZB-2p,full,no,,fp16 mixed,unfused,any,0.1\n");
  const CommandResult result = run_tandem({"validate", "--against", rows, "--cluster", "dgx-a100", "--json"});
  EXPECT_EQ(result.status, 1);
  const json summary = json::parse(result.out);
  EXPECT_EQ(summary["failed"], 1);
  EXPECT_THAT(result.err, HasSubstr("pipeline schedule not modelled"));

  const auto seconds = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"validate", "--against",     rows,    "--cluster",      "dgx-a100", "--predict-only",
                                   "--where",  "schedule=1F1B", "--csv", path("t-out.csv")};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run_tandem(words).status, 0);
    const std::string csv = text_of_file(path("t-out.csv"));
    const std::string line = csv.substr(csv.find('\n') + 1);
    const std::string start = "unfused,any,0.1,";
    return std::stod(line.substr(line.find(start) + start.size()));
  };
  EXPECT_LT(seconds({"--without", "host"}), seconds({}));
  EXPECT_EQ(run_tandem({"validate", "--against", rows, "--cluster", "dgx-a100", "--without", "hosts"}).status, 2);
}

}  // namespace
}  // namespace tandem
