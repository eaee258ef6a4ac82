// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "arch/support/units.h"
#include "search/parity/nest_placement.h"
#include "search/parity/phaze_placement.h"
#include "tools/answer_json.h"
#include "tools/command_line.h"
#include "tools/text_table.h"

namespace tandem {
namespace {

using nlohmann::ordered_json;

/// What an objective makes of an instance, with what the report needs of it.
struct Placed {
  ParityPlan plan;
  std::string_view objective, unit;  ///< unit: of every time
  double memory_bytes = 0;
  std::int64_t devices = 0, microbatches = 0;
  std::size_t layers = 0, widths = 0;
};

template <typename Instance>
Placed placed(const Instance& instance, ParityPlan plan, std::string_view objective, std::string_view unit) {
  return {std::move(plan),
          objective,
          unit,
          instance.memory_bytes,
          instance.devices,
          instance.microbatches,
          instance.graphs.empty() ? 0 : instance.graphs.front().layers.size(),
          instance.graphs.size()};
}

Placed place(const std::string& file, std::string_view objective) {
  if (objective == "phaze") {
    const PhazeInstance instance = load_phaze_instance(file);
    return placed(instance, solve_phaze(instance), objective, "s");
  }
  if (objective == "nest") {
    const NestInstance instance = load_nest_instance(file);
    return placed(instance, solve_nest(instance), objective, "solver units");
  }
  throw ConfigError(fmt::format("--objective: unknown objective '{}'; expected phaze or nest", objective));
}

ordered_json json_of(const Placed& result) {
  const ParityPlan& plan = result.plan;
  ordered_json json{{"objective", result.objective}, {"feasible", plan.feasible}};
  if (!plan.feasible) {
    json["worst_layer"] = plan.worst_layer;
    json["worst_layer_bytes"] = plan.worst_layer_bytes;
    json["memory_bytes"] = result.memory_bytes;
    return json;
  }
  json["time_per_batch"] = plan.time;
  json["unit"] = result.unit;
  json["num_stages"] = plan.stages.size();
  json["tensor_parallel"] = plan.tensor_parallel;
  json["data_parallel"] = plan.data_parallel;
  json["stages"] = ordered_json::array();
  for (const ParityStage& stage : plan.stages) {
    json["stages"].push_back({{"layers", stage.layers},
                              {"devices", stage.devices},
                              {"load", stage.load},
                              {"memory_bytes", stage.memory_bytes}});
  }
  return json;
}

std::string bytes_text(double bytes) {
  return bytes < 9e18 ? to_text(Bytes(std::llround(bytes))) : fmt::format("{:.4g} B", bytes);
}

/// Ids in runs: "3-7, 9".
std::string runs(const std::vector<std::int64_t>& ids) {
  std::string text;
  for (std::size_t begin = 0; begin < ids.size();) {
    std::size_t end = begin + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ids[begin]);
    if (end - begin > 1) text += fmt::format("{}{}", end - begin > 2 ? " to " : ", ", ids[end - 1]);
    begin = end;
  }
  return text;
}

std::string infeasible_text(const Placed& result) {
  return fmt::format(
      "no placement fits: layer {} needs {} on its own, at the width where that is least and as the last stage;\n"
      "a device has {}\n",
      result.plan.worst_layer, bytes_text(result.plan.worst_layer_bytes), bytes_text(result.memory_bytes));
}

std::string report(const Placed& result) {
  const ParityPlan& plan = result.plan;
  if (!plan.feasible) return infeasible_text(result);
  std::int64_t per_pipeline = 0;
  double slowest = 0;
  for (const ParityStage& stage : plan.stages) {
    per_pipeline += stage.devices;
    slowest = std::max(slowest, stage.load);
  }
  std::string text = fmt::format(
      "optimum under the objective of {}: {:.10g} {} a batch\n"
      "{} stages, tensor parallel {}, data parallel {}: {} of {} devices; {} microbatches\n"
      "proven over every contiguous cut of {} layers, {} width{}, and every data-parallel degree\n\n",
      result.objective == "phaze" ? "PHAZE" : "NEST", plan.time, result.unit, plan.stages.size(), plan.tensor_parallel,
      plan.data_parallel, per_pipeline * plan.data_parallel, result.devices, result.microbatches, result.layers,
      result.widths, result.widths == 1 ? "" : "s");
  TextTable table({"stage", "devices", "load", "of slowest", "memory", "of device", "layers"});
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const ParityStage& stage = plan.stages[i];
    table.add({std::to_string(i), std::to_string(stage.devices), fmt::format("{:.6g}", stage.load),
               percent(stage.load / slowest), bytes_text(stage.memory_bytes),
               percent(stage.memory_bytes / result.memory_bytes), runs(stage.layers)});
  }
  return text + table.text() + fmt::format("\nload: one microbatch, forward and backward, in {}\n", result.unit);
}

ExitCode run(const Arguments& arguments, const Session& session) {
  if (arguments.files().empty()) throw ConfigError("place what? tandem place INSTANCE.json");
  const Placed result = place(arguments.files().front(), arguments.text("objective").value_or("phaze"));
  print(session.json ? text_of(json_of(result)) : report(result));
  return result.plan.feasible ? ExitCode::done : ExitCode::cannot;
}

}  // namespace

Verb place_verb() {
  return {"place",
          "the optimal placement of a profiled layer graph under PHAZE's or NEST's own objective",
          "INSTANCE.json [options]",
          "Reads a placement problem as those tools' solvers do (plain or .xz; docs/formats.md) and prints the proven\n"
          "optimum with its stages. Exit code 1 if nothing fits, and which layer is why. To place one of tandem's own\n"
          "models under tandem's objective, use search with the architecture fixed.\n",
          "  tandem place instance.json\n"
          "  tandem place instance.json.xz --objective nest --json\n",
          {{"Placement", {{"objective", 0, "NAME", "whose: phaze (default) or nest", false, {}}}}},
          1,
          run};
}

}  // namespace tandem
