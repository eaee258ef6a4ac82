// SPDX-License-Identifier: Apache-2.0
#include "search/predict.h"

#include <nlohmann/json.hpp>

#include "tools/answer_json.h"
#include "tools/answer_text.h"
#include "tools/command_line.h"
#include "tools/operator_energy.h"

namespace tandem {
namespace {

ExitCode run(const Arguments& arguments, const Session& session) {
  const Scenario scenario = scenario_from(arguments, session);
  const Program program = program_of(scenario);
  const Answer answer = predict(scenario.cluster, program);
  if (session.json) {
    nlohmann::ordered_json json = to_json(scenario);
    json["predicted"] = to_json(answer);
    add_energy(json["predicted"], answer, scenario);
    print(text_of(json));
  } else {
    print(heading(scenario) + "\npredicted in closed form (nothing here was simulated)\n\n" +
          answer_text(scenario, program, answer));
  }
  return ExitCode::done;
}

}  // namespace

Verb predict_verb() {
  return {"predict",
          "the analytical answer for one machine, model and plan, in milliseconds",
          "--cluster C --model M [--plan P] [options]",
          "Computes one training iteration in closed form: time, tokens/s, MFU, time by cause, stages, memory of each\n"
          "stage's devices, layers and the slowest operators.\n",
          "  tandem predict --cluster tpu-v4-pod --model llama2-7b --devices 64 --tp 4 --gbs 128\n"
          "  tandem predict --cluster C.yaml --model M.json --plan P.yaml --json\n"
          "  tandem predict --cluster dgx-a100 --model gpt3-175b --devices 1024 \\\n"
          "      --tensor-model-parallel-size 8 --pipeline-model-parallel-size 16 --global-batch-size 1536\n"
          "  tandem predict --cluster C.yaml --model M.json --plan P.yaml --set chip.hbm.bandwidth='2 TB/s'\n",
          {machine_flags(), workload_flags(), plan_flags()},
          0,
          run};
}

}  // namespace tandem
