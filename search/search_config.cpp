// SPDX-License-Identifier: Apache-2.0
#include "search/search_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

#include "arch/area.h"
#include "arch/config.h"
#include "arch/field_setter.h"
#include "arch/support/config_reader.h"
#include "search/axis_values.h"

namespace tandem {
namespace {

/// Complaints of all files that one search names.
struct Complaints {
  std::vector<Diagnostic> found;

  void add(const ConfigError& error) {
    found.insert(found.end(), error.diagnostics().begin(), error.diagnostics().end());
  }
  /// Runs `read`; its ConfigError is kept for later and the fallback returned.
  template <typename T, typename Read>
  T gather(T fallback, const Read& read) {
    try {
      return read();
    } catch (const ConfigError& error) {
      add(error);
      return fallback;
    }
  }
};

bool is_path(const std::string& text) { return text.find_first_of("/.") != std::string::npos; }

/// A path relative to the file that names it, or the name of a shipped config. The name "llama-2.yaml" is a path.
std::filesystem::path locate(const ConfigFile& file, std::string_view kind, const std::string& text) {
  const std::filesystem::path beside = file.resolve(text);
  if (is_path(text) && std::filesystem::exists(beside)) return beside;
  return find_config(kind, text);
}

/// Reads the file that `key` names, if it names one; a name that leads nowhere is a complaint at the key.
template <typename T, typename Load>
std::optional<T> load_named(ConfigFile& file, const ConfigSection& section, std::string_view key, std::string_view kind,
                            Complaints& complaints, const Load& load) {
  const auto name = section.maybe<std::string>(key);
  if (!name) return std::nullopt;
  std::filesystem::path path;
  try {
    path = locate(file, kind, *name);
  } catch (const ConfigError& error) {
    const Diagnostic& found = error.diagnostics().front();
    section.complain(
        key, fmt::format("{}: {}", *name, found.problem),
        found.suggestion.empty() ? found.expected : fmt::format("{} (perhaps {})", found.expected, found.suggestion));
    return std::nullopt;
  }
  return complaints.gather<std::optional<T>>(std::nullopt, [&] { return std::optional<T>(load(path)); });
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void read_model(ConfigFile& file, const ConfigSection& root, Complaints& complaints, SearchConfig& config) {
  if (!root.has("model")) root.complain("model", "is missing", "a model's config.json or the name of a shipped one");
  const auto model = load_named<TransformerModel>(file, root, "model", "model", complaints, [&](const auto& path) {
    config.model_text = read_text(path);
    return load_model(path);
  });
  const auto name = root.maybe<std::string>("model_name");
  if (!model) return;
  config.model = *model;
  if (name) config.model.name = *name;
}

void read_cluster(ConfigFile& file, const ConfigSection& root, Complaints& complaints, SearchConfig& config) {
  if (!root.has("cluster")) root.complain("cluster", "is missing", "a cluster file or the name of a shipped one");
  const auto cluster = load_named<Cluster>(file, root, "cluster", "cluster", complaints, load_cluster);
  const auto chip = load_named<Chip>(file, root, "chip", "chip", complaints, load_chip);
  config.plans.devices = root.get_or<std::int64_t>("devices", cluster ? cluster->devices() : 1, positive);
  if (!cluster) return;
  config.cluster = *cluster;
  if (chip) config.cluster.chip = *chip;
  if (config.plans.devices < 1) return;
  try {
    config.cluster = config.cluster.resized(config.plans.devices);
  } catch (const ConfigError& error) {
    root.complain("devices", error.what());
  }
}

void read_training(const ConfigSection& training, PlanSpace& plans) {
  plans.global_batch = training.get<std::int64_t>("global_batch", positive);
  plans.sequence = training.get<std::int64_t>("sequence", positive);
  plans.dtype = training.get_or("dtype", DataType::bf16);
  plans.optimizer = training.get_or("optimizer", Optimizer::adam);
  plans.fp32_gradients = training.get_or("fp32_gradients", true);
}

/// A list of positive numbers; "all", or nothing, is an empty list.
std::vector<std::int64_t> read_degrees(const ConfigSection& section, std::string_view key) {
  const ConfigNode* node = section.node(key);
  if (node == nullptr || (node->kind == ConfigNode::Kind::scalar && node->scalar == "all")) return {};
  return section.list<std::int64_t>(key, positive);
}

template <typename T>
void read_choices(const ConfigSection& section, std::string_view key, std::vector<T>& choices,
                  const Check& check = any_value) {
  if (!section.has(key)) return;
  choices = section.list<T>(key, check);
  if (choices.empty()) section.complain(key, "is an empty list", "at least one value");
}

void read_placement(const ConfigSection& placement, PlanSpace& plans) {
  if (!placement.present()) return;
  plans.tp = read_degrees(placement, "tp");
  plans.pp = read_degrees(placement, "pp");
  plans.dp = read_degrees(placement, "dp");
  plans.microbatch = read_degrees(placement, "microbatch");
  read_choices(placement, "recompute", plans.recompute);
  read_choices(placement, "schedule", plans.schedule);
  if (std::find(plans.schedule.begin(), plans.schedule.end(), PipelineSchedule::zb_h1) != plans.schedule.end()) {
    placement.complain("schedule", "zb_h1 is not searched over", "gpipe, 1f1b or interleaved");
  }
  read_choices(placement, "virtual_stages", plans.virtual_stages, between(2, 1024));
  read_choices(placement, "sequence_parallel", plans.sequence_parallel);
  read_choices(placement, "zero_stage", plans.zero_stage, between(0, 3));
  read_choices(placement, "attention", plans.attention);
  read_choices(placement, "overlap_gradients", plans.overlap_gradients);
}

/// A limit as a quantity, or `{same_as: CHIP}` for what `measure` says of that chip.
template <typename Limit, typename Measure>
std::optional<Limit> read_limit(ConfigFile& file, const ConfigSection& limits, std::string_view key,
                                Complaints& complaints, const Measure& measure) {
  const ConfigNode* node = limits.node(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != ConfigNode::Kind::map) return limits.maybe<Limit>(key, positive);
  const ConfigSection same = limits.section(key);
  const auto chip = load_named<Chip>(file, same, "same_as", "chip", complaints, load_chip);
  if (chip) return measure(*chip);
  if (!same.has("same_as")) same.complain("same_as", "is missing", "a chip that sets the limit");
  return std::nullopt;
}

Power peak_power(const Chip& chip, const Technology& technology) {
  Power most(0);
  for (const auto& [type, rate] : chip.tensor.macs_per_pe) {
    most = std::max(most, estimate_peak_power(chip, technology, type));
  }
  return most;
}

/// Told where it stands rather than when the space is walked.
void check_counts(const ConfigSection& limits, const DesignSpace& space) {
  Chip chip = space.base;
  for (const std::string& path : space.min_area_unless_one) {
    const auto field = find_field(chip, path);
    if (field && std::holds_alternative<std::int64_t*>(*field)) continue;
    limits.complain("min_area_unless_one", path + " is no count of a chip", "counts such as tensor_cores.count");
  }
}

void read_limits(ConfigFile& file, const ConfigSection& limits, Complaints& complaints, DesignSpace& space) {
  if (!limits.present()) return;
  const Technology& technology = space.technology;
  space.max_area = read_limit<Area>(file, limits, "max_area", complaints,
                                    [&](const Chip& chip) { return estimate_area(chip, technology).total(); });
  space.min_area = read_limit<Area>(file, limits, "min_area", complaints,
                                    [&](const Chip& chip) { return estimate_area(chip, technology).total(); });
  if (limits.has("min_area_unless_one")) {
    space.min_area_unless_one = limits.list<std::string>("min_area_unless_one");
    check_counts(limits, space);
  }
  space.max_power = read_limit<Power>(file, limits, "max_power", complaints,
                                      [&](const Chip& chip) { return peak_power(chip, technology); });
}

/// Each axis is tried on the base chip by itself, so that a wrong field or value is told where it stands.
void check_axis(const ConfigSection& axes, const DesignSpace& space, const DesignAxis& axis) {
  DesignSpace alone;
  alone.base = space.base;
  alone.technology = space.technology;
  alone.axes = {axis};
  try {
    enumerate(alone, [](const DesignPoint&) {});
  } catch (const ConfigError& error) {
    axes.complain(axis.path, error.diagnostics().empty() ? error.what() : error.diagnostics().front().text());
  }
}

void read_axes(const ConfigSection& axes, DesignSpace& space, bool can_check) {
  for (const std::string& path : axes.keys()) {
    const AxisValues read = read_axis_values(*axes.node(path));
    if (!read.problem.empty()) {
      axes.complain(path, read.problem, read.expected);
      continue;
    }
    space.axes.push_back({path, read.values});
    if (can_check) check_axis(axes, space, space.axes.back());
  }
}

void read_architecture(ConfigFile& file, const ConfigSection& root, Complaints& complaints, SearchConfig& config) {
  const ConfigSection section = root.optional_section("architecture");
  DesignSpace& space = config.space;
  space.base = config.cluster.chip;
  bool known = false;
  if (section.present() && section.has("technology")) {
    const auto technology =
        load_named<Technology>(file, section, "technology", "technology", complaints, load_technology);
    if (technology) space.technology = *technology;
    known = technology.has_value();
  } else if (!space.base.technology.empty()) {
    complaints.gather(0, [&] {
      space.technology = load_technology(find_config("technology", space.base.technology));
      known = true;
      return 0;
    });
  }
  if (!section.present()) return;
  const ConfigSection ties = section.optional_section("ties");
  if (ties.present()) {
    for (const std::string& field : ties.keys()) space.ties.emplace_back(field, ties.get<std::string>(field));
  }
  const ConfigSection axes = section.optional_section("axes");
  if (axes.present()) read_axes(axes, space, known && !space.base.name.empty());
  read_limits(file, section.optional_section("limits"), complaints, space);
}

void check_baseline_plan(const ConfigSection& section, const SearchConfig& config, const Plan& plan) {
  if (plan.global_batch != config.plans.global_batch || plan.sequence != config.plans.sequence) {
    section.complain("plan",
                     fmt::format("trains {} sequences of {} tokens, the search {} of {}", plan.global_batch,
                                 plan.sequence, config.plans.global_batch, config.plans.sequence),
                     "the same training");
  }
  if (config.model.layers == 0) return;
  for (const std::string& problem : problems(plan, config.model, config.plans.devices)) {
    section.complain("plan", problem);
  }
}

void read_baseline(ConfigFile& file, const ConfigSection& root, Complaints& complaints, SearchConfig& config) {
  const ConfigSection section = root.optional_section("baseline");
  if (!section.present()) return;
  Baseline baseline;
  baseline.cluster = config.cluster;
  const auto cluster = load_named<Cluster>(file, section, "cluster", "cluster", complaints, load_cluster);
  if (cluster) baseline.cluster = *cluster;
  const auto chip = load_named<Chip>(file, section, "chip", "chip", complaints, load_chip);
  if (chip) baseline.cluster.chip = *chip;
  if (cluster && config.plans.devices > 0) {
    try {
      baseline.cluster = baseline.cluster.resized(config.plans.devices);
    } catch (const ConfigError& error) {
      section.complain("cluster", error.what());
    }
  }
  if (!section.has("plan")) section.complain("plan", "is missing", "a plan file");
  const auto plan = load_named<Plan>(file, section, "plan", "plan", complaints, load_plan);
  if (!plan) return;
  baseline.plan = config.model.layers > 0 ? resolved(*plan, config.model) : *plan;
  check_baseline_plan(section, config, baseline.plan);
  config.baseline = baseline;
}

void read_validation(const ConfigSection& section, ValidationBudget& budget) {
  if (!section.present()) return;
  budget.top = section.get_or("top", budget.top, positive);
  budget.plans_per_architecture = section.get_or("plans_per_architecture", budget.plans_per_architecture, positive);
  budget.time_limit = section.get_or("time_limit", budget.time_limit, positive);
}

}  // namespace

SearchConfig load_search_config(const std::filesystem::path& path) {
  ConfigFile file(path);
  const ConfigSection root = file.root();
  Complaints complaints;
  SearchConfig config;
  config.name = root.get_or<std::string>("name", path.stem().string());
  read_model(file, root, complaints, config);
  read_cluster(file, root, complaints, config);
  read_training(root.section("training"), config.plans);
  read_placement(root.optional_section("placement"), config.plans);
  read_architecture(file, root, complaints, config);
  read_validation(root.optional_section("validate"), config.validate);
  config.workers = root.get_or<std::int64_t>("workers", 0, not_negative);
  config.seed = static_cast<std::uint64_t>(root.get_or<std::int64_t>("seed", 0, not_negative));
  read_baseline(file, root, complaints, config);
  try {
    file.finish();
  } catch (const ConfigError& error) {
    complaints.found.insert(complaints.found.begin(), error.diagnostics().begin(), error.diagnostics().end());
  }
  if (!complaints.found.empty()) throw ConfigError(complaints.found);
  return config;
}

}  // namespace tandem
