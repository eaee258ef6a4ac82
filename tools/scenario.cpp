// SPDX-License-Identifier: Apache-2.0
#include "tools/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "arch/config.h"
#include "arch/design_space.h"
#include "arch/support/config_tree.h"
#include "arch/support/error.h"
#include "search/mapper.h"
#include "tools/file_kind.h"

namespace tandem {
namespace {

std::string required(const Arguments& arguments, std::string_view flag, std::string_view what) {
  auto value = arguments.text(flag);
  if (!value) throw ConfigError(fmt::format("--{} is missing: {}", flag, what));
  return *value;
}

/// "tensor_cores.rows=256" as an axis of one value.
DesignAxis parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw ConfigError(fmt::format("--set {}: expected path=value, e.g. --set chip.clock='1.2 GHz'", text));
  }
  std::string path = text.substr(0, equals);
  if (path.starts_with("chip.")) path.erase(0, 5);
  return {path, {text.substr(equals + 1)}};
}

Chip with_settings(const Chip& chip, const std::vector<std::string>& settings) {
  if (settings.empty()) return chip;
  DesignSpace space;
  space.base = chip;
  space.technology = load_technology(find_config("technology", chip.technology));
  for (const std::string& setting : settings) space.axes.push_back(parse_setting(setting));
  Chip result = chip;
  enumerate(space, [&](const DesignPoint& point) { result = point.chip; });
  return result;
}

/// A plan file; dp is 0 where the file leaves it to the number of devices.
Plan read_plan(const std::filesystem::path& file) {
  Plan plan = load_plan(file);
  if (load_config_tree(file).find("dp") == nullptr) plan.dp = 0;
  return plan;
}

Cluster sized(const Cluster& cluster, std::int64_t devices, const Session& session, std::string_view why) {
  if (devices == cluster.devices()) return cluster;
  note(session, fmt::format("{}: {} devices in place of the {} of {}", why, devices, cluster.devices(), cluster.name));
  return cluster.resized(devices);
}

void require_sound(const Scenario& scenario) {
  const auto found = problems(scenario.plan, scenario.model, scenario.cluster.devices());
  if (found.empty()) return;
  std::vector<Diagnostic> diagnostics;
  for (const std::string& problem : found) diagnostics.push_back({"", 0, 0, "plan", problem, "", ""});
  throw ConfigError(std::move(diagnostics));
}

}  // namespace

FlagGroup machine_flags() {
  return {"Machine",
          {{"cluster", 'c', "FILE", "cluster file, or the name of a shipped one (dgx-a100)", false, {}},
           {"chip", 0, "FILE", "chip in place of the cluster's; alone: a machine of one chip", false, {"device"}},
           {"devices", 0, "N", "number of chips in place of the cluster's", false, {"gpus", "world-size"}},
           {"set", 0, "PATH=VALUE", "replace one field of the chip, e.g. chip.hbm.bandwidth='2 TB/s'", true, {}}}};
}

FlagGroup workload_flags() {
  return {"Work",
          {{"model", 'm', "FILE", "Hugging Face config.json (or its folder), or a shipped name (llama2-7b)", false, {}},
           {"plan", 'p', "FILE", "plan file; may be left out when flags say it all", false, {"strategy"}}}};
}

Cluster machine_from(const Arguments& arguments, const Session& session) {
  Cluster cluster;
  const auto file = arguments.text("cluster");
  const auto chip = arguments.text("chip");
  if (!file && !chip) throw ConfigError("--cluster is missing: a cluster file, or --chip for a machine of one chip");
  if (file) cluster = load_cluster(find_config("cluster", *file));
  if (chip) {
    Chip other = load_chip(find_config("chip", *chip));
    if (file) note(session, fmt::format("--chip: {} replaces {} of {}", other.name, cluster.chip.name, cluster.name));
    cluster.chip = std::move(other);
    if (!file) cluster.name = "one " + cluster.chip.name;
  }
  const auto settings = arguments.texts("set");
  if (!settings.empty()) {
    cluster.chip = with_settings(cluster.chip, settings);
    for (const std::string& setting : settings) note(session, fmt::format("--set: {}", setting));
  }
  if (const auto devices = arguments.positive("devices")) cluster = sized(cluster, *devices, session, "--devices");
  return cluster;
}

Scenario scenario_from(const Arguments& arguments, const Session& session) {
  const std::string model_name = required(arguments, "model", "a Hugging Face config.json or a shipped model's name");
  Scenario scenario;
  scenario.cluster = machine_from(arguments, session);
  scenario.model = load_model(find_model(model_name));
  const auto file = arguments.text("plan");
  Plan base;
  if (file) base = read_plan(find_config("plan", *file));
  ResolvedPlan resolved = resolve_plan(arguments, file ? &base : nullptr, scenario.model, scenario.cluster.devices());
  for (const std::string& line : resolved.notes) note(session, line);
  scenario.plan = std::move(resolved.plan);
  const bool sized_by_flag = arguments.has("devices");
  const std::int64_t wanted = scenario.plan.devices();
  if (!sized_by_flag && wanted > 0 && wanted < scenario.cluster.devices()) {
    scenario.cluster = sized(scenario.cluster, wanted, session, "the plan uses fewer devices than the cluster has");
  }
  require_sound(scenario);
  return scenario;
}

Program program_of(const Scenario& scenario) {
  Program program = build_program(scenario.model, scenario.plan);
  check_memory(program, scenario.cluster.chip.hbm.capacity - scenario.cluster.reserved_memory);
  map_program(scenario.cluster.chip, program);
  return program;
}

std::string plan_summary(const Plan& plan) {
  std::string text = fmt::format("tp {}, pp {}, dp {}", plan.tp, plan.pp, plan.dp);
  if (plan.cp > 1) text += fmt::format(", cp {}", plan.cp);
  if (plan.ep > 1) text += fmt::format(", ep {}", plan.ep);
  if (plan.sequence_parallel) text += ", sequence parallel";
  text +=
      fmt::format(", global batch {}, microbatch {}, sequence {}", plan.global_batch, plan.microbatch, plan.sequence);
  text += fmt::format(", {}", name_of(plan.schedule));
  if (plan.virtual_stages > 1) text += fmt::format(" x{}", plan.virtual_stages);
  text += fmt::format(", recompute {}, {}, {}", name_of(plan.recompute), name_of(plan.optimizer), name_of(plan.dtype));
  if (plan.zero_stage > 0) text += fmt::format(", ZeRO {}", plan.zero_stage);
  return text + fmt::format(", {} attention", name_of(plan.attention));
}

}  // namespace tandem
