// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "arch/config.h"
#include "tools/command_line.h"
#include "tools/file_kind.h"
#include "tools/scenario.h"
#include "tools/show/show.h"
#include "workloads/plan.h"

namespace tandem {
namespace {

/// A model's memory depends on the plan; without flags it is one sequence on as few devices as the flags ask for.
Shown show_model_file(const std::filesystem::path& path, const Arguments& arguments) {
  const TransformerModel model = load_model(path);
  Plan base;
  base.global_batch = 1;
  base.sequence = model.max_positions;
  base.stage_layers = even_stages(model.layers, 1);
  const std::int64_t devices =
      checked_product(arguments.positive("tp").value_or(1), arguments.positive("pp").value_or(1),
                      arguments.positive("cp").value_or(1), arguments.positive("dp").value_or(1));
  ResolvedPlan resolved = resolve_plan(arguments, &base, model, devices);
  if (!arguments.has("gbs")) resolved.plan.global_batch = checked_product(resolved.plan.dp, resolved.plan.microbatch);
  const auto found = problems(resolved.plan, model, devices);
  if (!found.empty()) throw ConfigError(fmt::format("{}", fmt::join(found, "\n")));
  return show_model(model, resolved.plan);
}

Shown show_any(const KnownFile& file, const Arguments& arguments) {
  switch (file.kind) {
    case FileKind::chip: return show_chip(load_chip(file.path));
    case FileKind::cluster: {
      const Cluster cluster = load_cluster(file.path);
      const auto devices = arguments.positive("devices");
      return show_cluster(devices ? cluster.resized(*devices) : cluster);
    }
    case FileKind::technology: return show_technology(load_technology(file.path));
    case FileKind::model: return show_model_file(file.path, arguments);
    case FileKind::plan: return show_plan(load_plan(file.path));
    case FileKind::search: return show_search(file.path);
    case FileKind::run: return show_run(file.path);
    case FileKind::trace: return show_trace(file.path);
    case FileKind::candidates: return show_candidates(file.path);
  }
  throw std::logic_error("a kind of file without a view");
}

ExitCode run(const Arguments& arguments, const Session& session) {
  if (arguments.files().empty())
    throw ConfigError("show what? tandem show FILE (a config, a run directory or a trace)");
  const KnownFile file = recognise(arguments.files().front());
  for (const auto& other : file.others) note(session, fmt::format("{} has the same name", other.string()));
  const Shown shown = show_any(file, arguments);
  print(session.json ? shown.json : shown.text);
  return ExitCode::done;
}

}  // namespace

Verb show_verb() {
  return {
      "show",
      "a chip, cluster, technology, model, plan, search, run or trace, explained in one screen",
      "FILE [options]",
      "Tells what a file is by its content and prints what follows from it: peak FLOP/s per data type, bandwidths,\n"
      "ridge points, area; parameters, FLOPs, memory per device; ranking of a run; summary of a trace.\n"
      "Shipped configs can be named without a path.\n",
      "  tandem show a100-80gb\n"
      "  tandem show tpu-v4-pod --devices 64\n"
      "  tandem show llama2-7b --tp 4 --pp 2 --recompute full\n"
      "  tandem show runs/llama2\n"
      "  tandem show runs/llama2/best/trace.h5 --json\n",
      {{"Machine", {{"devices", 0, "N", "cluster: with this many chips", false, {}}}}, plan_flags()},
      1,
      run};
}

}  // namespace tandem
