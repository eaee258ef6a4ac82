// SPDX-License-Identifier: Apache-2.0
#include "sim/simulate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "search/predict.h"
#include "tools/answer_json.h"
#include "tools/answer_text.h"
#include "tools/command_line.h"
#include "tools/operator_energy.h"
#include "tools/simulation_flags.h"

namespace tandem {
namespace {

ExitCode run(const Arguments& arguments, const Session& session) {
  const Scenario scenario = scenario_from(arguments, session);
  const Program program = program_of(scenario);
  const Answer predicted = predict(scenario.cluster, program);
  Progress progress(session, "simulating");
  const SimulationOptions options = simulation_options(arguments, session, &progress);
  const Answer answer = simulate(scenario.cluster, program, options, &predicted);
  if (session.json) {
    nlohmann::ordered_json json = to_json(scenario);
    json["simulated"] = to_json(answer);
    add_energy(json["simulated"], answer, scenario);
    if (options.trace) json["trace"] = options.trace->string();
    print(text_of(json));
  } else {
    std::string text =
        heading(scenario) + "\nsimulated on SystemC (cycle-approximate; formulas as listed at the end)\n\n";
    text += answer_text(scenario, program, answer);
    if (options.trace) text += fmt::format("\ntrace: {}\n", options.trace->string());
    print(text);
  }
  return ExitCode::done;
}

}  // namespace

Verb simulate_verb() {
  return {"simulate",
          "the same question on the SystemC simulator, in seconds, with a trace on request",
          "--cluster C --model M [--plan P] [--trace FILE] [options]",
          "Simulates one training iteration: contention for HBM, NoC and links, fill and drain, pipeline bubbles.\n"
          "Ctrl-C closes the trace, which is then readable and marked incomplete.\n",
          "  tandem simulate --cluster tpu-v4-pod --model llama2-7b --devices 64 --tp 4 --gbs 128\n"
          "  tandem simulate --cluster C.yaml --model M.json --plan P.yaml --trace t.h5 --detail tile\n"
          "  tandem simulate --cluster C.yaml --model M.json --plan P.yaml --ideal hbm,links\n",
          {machine_flags(), workload_flags(), plan_flags(), simulation_flags()},
          0,
          run};
}

}  // namespace tandem
