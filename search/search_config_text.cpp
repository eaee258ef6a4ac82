// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arch/support/units.h"
#include "search/search_config.h"

namespace tandem {
namespace {

template <typename T>
std::string one(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(name_of(value));
  } else {
    return fmt::format("{}", value);
  }
}

template <typename T>
std::string list(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T value : values) texts.push_back(one(value));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string degrees(const std::vector<std::int64_t>& values) { return values.empty() ? "all" : list(values); }

std::string architecture_text(const DesignSpace& space) {
  std::string text = "architecture:\n  technology: config/technology.yaml\n";
  if (!space.axes.empty()) text += "  axes:\n";
  for (const DesignAxis& axis : space.axes) {
    text += fmt::format("    {}: [{}]\n", axis.path, fmt::join(axis.values, ", "));
  }
  if (!space.ties.empty()) text += "  ties:\n";
  for (const auto& [field, followed] : space.ties) text += fmt::format("    {}: {}\n", field, followed);
  if (space.max_area || space.min_area || !space.min_area_unless_one.empty() || space.max_power) text += "  limits:\n";
  if (space.max_area) text += fmt::format("    max_area: {}\n", to_exact_text(*space.max_area));
  if (space.min_area) text += fmt::format("    min_area: {}\n", to_exact_text(*space.min_area));
  if (!space.min_area_unless_one.empty()) {
    text += fmt::format("    min_area_unless_one: [{}]\n", fmt::join(space.min_area_unless_one, ", "));
  }
  if (space.max_power) text += fmt::format("    max_power: {}\n", to_exact_text(*space.max_power));
  return text;
}

std::string training_text(const PlanSpace& plans) {
  return fmt::format(
      "training:\n  global_batch: {}\n  sequence: {}\n  dtype: {}\n  optimizer: {}\n  fp32_gradients: {}\n",
      plans.global_batch, plans.sequence, name_of(plans.dtype), name_of(plans.optimizer), plans.fp32_gradients);
}

std::string placement_text(const PlanSpace& plans) {
  std::string text = "placement:\n";
  const auto line = [&text](std::string_view key, const std::string& value) {
    text += fmt::format("  {}: {}\n", key, value);
  };
  line("tp", degrees(plans.tp));
  line("pp", degrees(plans.pp));
  line("dp", degrees(plans.dp));
  line("microbatch", degrees(plans.microbatch));
  line("recompute", list(plans.recompute));
  line("schedule", list(plans.schedule));
  line("virtual_stages", list(plans.virtual_stages));
  line("sequence_parallel", list(plans.sequence_parallel));
  line("zero_stage", list(plans.zero_stage));
  line("attention", list(plans.attention));
  line("overlap_gradients", list(plans.overlap_gradients));
  return text;
}

/// A name may hold anything.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

std::string to_yaml(const SearchConfig& config) {
  std::string text = fmt::format("name: {}\nmodel: config/model.json\nmodel_name: {}\n", quoted(config.name),
                                 quoted(config.model.name));
  text += fmt::format("cluster: config/cluster.yaml\ndevices: {}\n", config.plans.devices);
  text += training_text(config.plans);
  text += placement_text(config.plans);
  text += architecture_text(config.space);
  text += fmt::format("validate:\n  top: {}\n  plans_per_architecture: {}\n  time_limit: {}\n", config.validate.top,
                      config.validate.plans_per_architecture, to_exact_text(config.validate.time_limit));
  text += fmt::format("workers: {}\nseed: {}\n", config.workers, config.seed);
  if (config.baseline) {
    text += "baseline:\n  cluster: config/baseline.cluster.yaml\n  plan: config/baseline.plan.yaml\n";
  }
  return text;
}

}  // namespace tandem
