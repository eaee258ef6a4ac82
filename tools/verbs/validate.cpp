// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "search/predict.h"
#include "sim/simulate.h"
#include "tools/against/against.h"
#include "tools/answer_json.h"
#include "tools/answer_text.h"
#include "tools/command_line.h"
#include "tools/comparison.h"
#include "tools/files.h"
#include "tools/forked_tasks.h"
#include "tools/interrupt.h"
#include "tools/simulation_flags.h"

namespace tandem {
namespace {

struct Effect {
  std::string_view name;
  bool Ideal::*member;
};
constexpr std::array<Effect, 4> kEffects{
    {{"hbm", &Ideal::hbm}, {"noc", &Ideal::noc}, {"links", &Ideal::links}, {"launch", &Ideal::launch}}};

/// Runs in workers, so that the simulations go side by side and one that fails costs its own line only.
std::vector<Ablation> ablate(const Scenario& scenario, const Program& program, const SimulationOptions& base,
                             const Session& session) {
  const auto task = [&](std::size_t index) {
    SimulationOptions options = base;
    options.trace.reset();
    options.progress = nullptr;
    options.cancelled = nullptr;
    options.detail = Detail::summary;
    options.ideal.*kEffects[index].member = true;
    return std::to_string(simulate(scenario.cluster, program, options).iteration.time.count());
  };
  ForkedOptions options;
  options.jobs = session.jobs;
  options.cancelled = interrupted;
  const auto outcomes = run_forked(kEffects.size(), task, options);
  if (interrupted()) throw CancelledError("stopped while effects were being switched off");
  std::vector<Ablation> rows;
  for (std::size_t i = 0; i < kEffects.size(); ++i) {
    Ablation row{std::string(kEffects[i].name), std::nullopt, outcomes[i].text};
    std::int64_t picoseconds = 0;
    const std::string& text = outcomes[i].text;
    if (outcomes[i].ok && std::from_chars(text.data(), text.data() + text.size(), picoseconds).ec == std::errc()) {
      row.time = Picoseconds(picoseconds);
      row.reason.clear();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

ExitCode compare_scenario(const Arguments& arguments, const Session& session) {
  for (const char* flag : {"where", "predict-only", "plot", "without"}) {
    if (arguments.has(flag)) throw ConfigError(fmt::format("--{} goes with --against only", flag));
  }
  const Scenario scenario = scenario_from(arguments, session);
  const Program program = program_of(scenario);
  const Answer predicted = predict(scenario.cluster, program);
  Progress progress(session, "simulating");
  const SimulationOptions options = simulation_options(arguments, session, &progress);
  const auto csv = arguments.text("csv");
  if (csv) require_writable(*csv);

  std::vector<Ablation> ablations;
  if (!arguments.has("no-ablation")) ablations = ablate(scenario, program, options, session);
  const Answer simulated = simulate(scenario.cluster, program, options, &predicted);
  Comparison comparison = compare(predicted, simulated);
  comparison.ablations = std::move(ablations);
  if (csv) write_file(*csv, comparison_csv(comparison));

  if (session.json) {
    nlohmann::ordered_json json = to_json(scenario);
    json["comparison"] = to_json(comparison);
    json["predicted"] = to_json(predicted);
    json["simulated"] = to_json(simulated);
    print(text_of(json));
  } else {
    print(heading(scenario) + "\npredicted and simulated from the same mapping, schedule and plan\n" +
          comparison_text(comparison));
  }
  return ExitCode::done;
}

ExitCode run(const Arguments& arguments, const Session& session) {
  if (arguments.has("against")) return validate_against(arguments, session);
  return compare_scenario(arguments, session);
}

}  // namespace

Verb validate_verb() {
  const FlagGroup flags{
      "Validation",
      {{"against", 0, "FILE.csv", "hold tandem against others' numbers; the kind is known by the header", false, {}},
       {"where", 'w', "COLUMN=VALUE", "only rows with this value (repeatable; all must hold)", true, {}},
       {"csv", 0, "OUT.csv", "write every row with predicted, simulated and both errors", false, {}},
       {"without",
        0,
        "EFFECT",
        "--against training rows: switch an effect off (repeatable; docs/training.md)",
        true,
        {}},
       {"plot", 0, "OUT.svg", "--against: draw every row as published against both answers", false, {}},
       {"predict-only", 0, "", "--against: do not simulate, so that thousands of rows take seconds", false, {}},
       {"time-limit", 0, "SECONDS", "of one row (default 600); a row beyond it fails", false, {}},
       {"no-ablation", 0, "", "do not simulate again with effects switched off", false, {}}}};
  return {
      "validate",
      "prediction and simulation side by side, or both against published measurements",
      "--cluster C --model M [--plan P] | --against FILE.csv [--where COLUMN=VALUE]...",
      "Without --against: the error of the prediction at every level (operator, layer, stage, iteration), the causes\n"
      "it missed, and what the iteration would take with HBM, NoC, links or launches ideal.\n"
      "With --against: every row of a file of measured operators, collectives or training iterations is predicted\n"
      "and simulated; errors are |x - reference| / reference over the rows that ran. --chip or --cluster replace\n"
      "what the rows name. Inaccuracy is no failure; rows that cannot run are counted by reason and exit with 1.\n",
      "  tandem validate --cluster C.yaml --model M.json --plan P.yaml\n"
      "  tandem validate --against operators.csv --where op=softmax --where 'device=AMD MI210' --csv out.csv\n"
      "  tandem validate --against training.csv --where group=korthikanti --json\n",
      {flags, machine_flags(), workload_flags(), plan_flags(), simulation_flags()},
      0,
      run};
}

}  // namespace tandem
