// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "arch/chip_config.h"
#include "arch/config.h"
#include "arch/machine_checks.h"

namespace tandem {
namespace {

namespace checks = machine_checks;

/// More chips than any level or cluster may have.
constexpr std::int64_t kMostDevices = std::int64_t{1} << 22;

std::size_t dimensions(LevelKind kind) {
  if (kind == LevelKind::torus2d) return 2;
  return kind == LevelKind::torus3d ? 3 : 1;
}

void read_dims(const ConfigSection& section, Level& level) {
  const std::size_t wanted = dimensions(level.kind);
  const std::string key = wanted == 1 ? "size" : "dims";
  if (!section.has(key)) {
    section.complain(key, fmt::format("required key is missing for kind {}", name_of(level.kind)),
                     wanted == 1 ? "a number of members" : fmt::format("a list of {} sizes", wanted));
    return;
  }
  level.dims = section.list<std::int64_t>(key, checks::count);
  if (level.dims.size() != wanted) {
    section.complain(key, fmt::format("{} sizes for kind {}", level.dims.size(), name_of(level.kind)),
                     fmt::format("{} of them", wanted));
    level.dims.clear();
  }
}

void check_level(const ConfigSection& section, const Level& level) {
  if (level.links_per_message > level.links) {
    section.complain("links_per_message", fmt::format("{} of {} links", level.links_per_message, level.links),
                     "no more than links");
  }
  const bool is_tree = level.kind == LevelKind::fat_tree;
  if (level.oversubscription != 1 && !is_tree) {
    section.complain("oversubscription", fmt::format("has no effect on kind {}", name_of(level.kind)),
                     "it with kind fat_tree only");
  }
  if (level.in_network_reduction && !is_tree && level.kind != LevelKind::switched) {
    section.complain("in_network_reduction", fmt::format("has no effect on kind {}", name_of(level.kind)),
                     "it with kinds switch and fat_tree only");
  }
}

Level read_level(const ConfigSection& section) {
  Level level;
  level.name = section.get<std::string>("name");
  level.kind = section.get<LevelKind>("kind");
  read_dims(section, level);
  level.links = section.get_or<std::int64_t>("links", 1, checks::extent);
  level.link_bandwidth = section.get<Bandwidth>("link_bandwidth", checks::rate);
  level.link_latency = section.get<Seconds>("link_latency", checks::delay);
  level.efficiency = section.get_or("efficiency", 1.0, fraction);
  level.links_per_message = section.get_or("links_per_message", level.links, checks::extent);
  level.oversubscription = section.get_or("oversubscription", 1.0, checks::within(1, 1e6, "a ratio from 1 to 1000000"));
  level.in_network_reduction = section.get_or("in_network_reduction", false);
  check_level(section, level);
  return level;
}

void read_levels(ConfigFile& file, const ConfigSection& root, Cluster& cluster) {
  std::int64_t devices = 1;
  for (const ConfigSection& section : root.sections("levels")) {
    cluster.levels.push_back(read_level(section));
    for (const std::int64_t extent : cluster.levels.back().dims) {
      devices = devices > kMostDevices ? devices : devices * extent;
    }
  }
  if (cluster.levels.empty()) {
    root.complain("levels", "a cluster needs at least one", "a list of network levels, innermost first");
  }
  if (devices > kMostDevices) {
    file.complain(root.node("levels"), "levels", fmt::format("more than {} devices", kMostDevices),
                  "a cluster that fits in memory");
  }
}

/// A chip by name or path in a file of its own; complaints about that file are added to `found`.
Chip chip_from_file(const ConfigFile& file, const std::string& name, std::vector<Diagnostic>& found) {
  try {
    const std::filesystem::path beside = file.resolve(name);
    return load_chip(std::filesystem::is_regular_file(beside) ? beside : find_config("chip", name));
  } catch (const ConfigError& error) {
    found = error.diagnostics();
    return {};
  }
}

Chip read_cluster_chip(const ConfigFile& file, const ConfigSection& root, std::vector<Diagnostic>& found) {
  const ConfigNode* node = root.node("chip");
  if (node != nullptr && node->kind == ConfigNode::Kind::scalar) return chip_from_file(file, node->scalar, found);
  return read_chip(root.section("chip"));
}

void finish_with(ConfigFile& file, std::vector<Diagnostic> others) {
  try {
    file.finish();
  } catch (const ConfigError& error) {
    others.insert(others.begin(), error.diagnostics().begin(), error.diagnostics().end());
  }
  if (!others.empty()) throw ConfigError(std::move(others));
}

Cluster finish(ConfigFile& file) {
  const ConfigSection root = file.root();
  std::vector<Diagnostic> of_chip;
  Cluster cluster;
  cluster.name = root.get<std::string>("name");
  cluster.chip = read_cluster_chip(file, root, of_chip);
  read_levels(file, root, cluster);
  const ConfigSection overhead = root.optional_section("overhead");
  cluster.overhead.collective = overhead.get_or("collective", Seconds(0), checks::delay);
  cluster.overhead.step = overhead.get_or("step", Seconds(0), checks::delay);
  cluster.overhead.send = overhead.get_or("send", Seconds(0), checks::delay);
  cluster.microbatch_overhead = root.get_or("microbatch_overhead", Seconds(0), checks::delay);
  cluster.issue_overhead = root.get_or("issue_overhead", Seconds(0), checks::delay);
  cluster.iteration_overhead = root.get_or("iteration_overhead", Seconds(0), checks::delay);
  cluster.reserved_memory = root.get_or("reserved_memory", Bytes(0), checks::capacity_or_none);
  if (of_chip.empty() && cluster.chip.hbm.capacity > Bytes(0) && cluster.reserved_memory >= cluster.chip.hbm.capacity) {
    root.complain(
        "reserved_memory",
        fmt::format("{} leaves nothing of {}", to_text(cluster.reserved_memory), to_text(cluster.chip.hbm.capacity)),
        "less than the chip's memory");
  }
  finish_with(file, std::move(of_chip));
  return cluster;
}

std::string level_text(const Level& level) {
  const bool is_torus = dimensions(level.kind) > 1;
  const std::string dims = fmt::format("{}", fmt::join(level.dims, ", "));
  std::string text = fmt::format("  - name: {}\n    kind: {}\n", yaml_text(level.name), yaml_text(level.kind));
  text += is_torus ? fmt::format("    dims: [{}]\n", dims) : fmt::format("    size: {}\n", dims);
  const auto put = [&text](std::string_view key, const std::string& value) {
    text += fmt::format("    {}: {}\n", key, value);
  };
  put("links", yaml_text(level.links));
  put("link_bandwidth", yaml_text(level.link_bandwidth));
  put("link_latency", yaml_text(level.link_latency));
  put("efficiency", yaml_text(level.efficiency));
  put("links_per_message", yaml_text(level.links_per_message));
  put("oversubscription", yaml_text(level.oversubscription));
  put("in_network_reduction", yaml_text(level.in_network_reduction));
  return text;
}

}  // namespace

Cluster load_cluster(const std::filesystem::path& path) {
  ConfigFile file(path);
  return finish(file);
}

Cluster load_cluster_text(std::string_view text, const std::string& name) {
  ConfigFile file(parse_yaml(text, name), name);
  return finish(file);
}

std::string to_yaml(const Cluster& cluster) {
  FieldWriter top;
  top.put("", "name", yaml_text(cluster.name));
  top.put("", "issue_overhead", yaml_text(cluster.issue_overhead));
  top.put("", "microbatch_overhead", yaml_text(cluster.microbatch_overhead));
  top.put("", "iteration_overhead", yaml_text(cluster.iteration_overhead));
  top.put("", "reserved_memory", yaml_text(cluster.reserved_memory));
  top.put("overhead", "collective", yaml_text(cluster.overhead.collective));
  top.put("overhead", "step", yaml_text(cluster.overhead.step));
  top.put("overhead", "send", yaml_text(cluster.overhead.send));
  std::string text = top.text() + "levels:\n";
  for (const Level& level : cluster.levels) text += level_text(level);
  FieldWriter chip("chip");
  write_chip(cluster.chip, chip);
  return text + chip.text();
}

}  // namespace tandem
