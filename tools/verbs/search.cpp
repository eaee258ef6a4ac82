// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "arch/config.h"
#include "search/architecture_search.h"
#include "search/predict.h"
#include "sim/simulate.h"
#include "tools/command_line.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/report/report.h"
#include "tools/show/show.h"
#include "tools/version.h"

namespace tandem {
namespace {

/// The simulator as the search sees it.
class Simulator final : public Evaluator {
 public:
  explicit Simulator(std::string command_line) : command_line_(std::move(command_line)) {}

  Answer evaluate(const Cluster& cluster, const Program& program, const std::string& trace) override {
    SimulationOptions options;
    options.command_line = command_line_;
    options.detail = Detail::summary;
    if (trace.empty()) return simulate(cluster, program, options);
    options.trace = trace;
    options.detail = Detail::tile;
    const Answer predicted = predict(cluster, program);
    return simulate(cluster, program, options, &predicted);
  }

 private:
  std::string command_line_;
};

SearchConfig config_from(const Arguments& arguments) {
  if (arguments.files().empty()) throw ConfigError("which search? tandem search CONFIG.yaml -o runs/NAME");
  SearchConfig config = load_search_config(find_config("search", arguments.files().front()));
  if (const auto top = arguments.positive("top")) config.validate.top = *top;
  return config;
}

SearchOptions options_from(const Arguments& arguments, const Session& session, const SearchConfig& config) {
  SearchOptions options;
  options.directory = arguments.text("output").value_or("runs/" + config.name);
  if (arguments.has("resume") && arguments.has("force")) throw ConfigError("--resume and --force exclude each other");
  if (arguments.has("resume")) options.existing = ExistingRun::resume;
  if (arguments.has("force")) options.existing = ExistingRun::overwrite;
  if (arguments.has("prefilter-only")) options.scope = SearchScope::prefilter_only;
  if (arguments.has("jobs")) options.workers = session.jobs;
  options.simulator = "SystemC, tandem " + short_version();
  options.cancelled = interrupted;
  return options;
}

ExitCode code_of(SearchStatus status) {
  switch (status) {
    case SearchStatus::complete:
    case SearchStatus::prefiltered: return ExitCode::done;
    case SearchStatus::interrupted: return ExitCode::interrupted;
    case SearchStatus::infeasible: return ExitCode::cannot;
  }
  return ExitCode::internal;
}

ExitCode run(const Arguments& arguments, const Session& session) {
  const SearchConfig config = config_from(arguments);
  SearchOptions options = options_from(arguments, session, config);
  Progress progress(session, "search");
  options.progress = [&progress](const SearchProgress& step) {
    const double total = step.total > 0 ? static_cast<double>(step.total) : 1.0;
    progress.show(static_cast<double>(step.done) / total,
                  fmt::format("{} {} of {}", name_of(step.phase), step.done, step.total));
  };
  Simulator simulator(session.command_line);
  const SearchResult result = search_architecture(config, simulator, options);
  if (!result.ranking.empty()) write_report(options.directory);
  const Shown shown = show_run(options.directory);
  print(session.json ? result.json : shown.text);
  return code_of(result.status);
}

}  // namespace

Verb search_verb() {
  const FlagGroup flags{
      "Search",
      {{"output", 'o', "DIR", "run directory (default runs/NAME); an existing one is refused", false, {"out"}},
       {"resume", 0, "", "go on with the run in the directory; the result is the same", false, {}},
       {"force", 0, "", "replace the run in the directory", false, {}},
       {"top", 0, "N", "simulate at most the N best predicted candidates", false, {"top-n"}},
       {"prefilter-only", 0, "", "predict only, simulate nothing", false, {}}}};
  return {"search",
          "finds the architecture and the placement that train a model fastest",
          "CONFIG.yaml [-o DIR] [options]",
          "Enumerates a design space, places the model on every architecture in closed form, simulates the best on\n"
          "SystemC in worker processes and ranks them by simulated throughput. Everything found stays in the run\n"
          "directory; Ctrl-C loses at most what is being simulated, and --resume goes on.\n",
          "  tandem search configs/search/llama2-7b.yaml -o runs/llama2\n"
          "  tandem search llama2-7b -o runs/llama2 --resume -j 8\n"
          "  tandem search llama2-7b -o runs/quick --top 4 --force\n"
          "  tandem show runs/llama2\n",
          {flags},
          1,
          run};
}

}  // namespace tandem
