// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "arch/chip_check.h"
#include "arch/chip_fields.h"
#include "arch/config.h"
#include "arch/hbm_presets.h"
#include "arch/support/error.h"

namespace tandem {
namespace {

/// Two figures for one bandwidth may differ by the rounding of a data sheet, not more.
constexpr double kRounding = 1e-3;

/// `bandwidth`, or `pin_rate` with `bits_per_channel`; if both are given they must agree.
void read_bandwidth(const ConfigSection& section, Hbm& hbm) {
  const auto pin_rate = section.maybe<Bandwidth>("pin_rate", machine_checks::rate);
  const auto bits = section.maybe<std::int64_t>("bits_per_channel", machine_checks::count);
  if (section.has("pin_rate") != section.has("bits_per_channel")) {
    section.complain(section.has("pin_rate") ? "bits_per_channel" : "pin_rate", "required key is missing",
                     "pin_rate and bits_per_channel together");
    return;
  }
  if (!section.has("pin_rate") && !section.has("bandwidth")) {
    section.complain("bandwidth", "required key is missing",
                     "a rate such as 1.2 TB/s, or pin_rate and bits_per_channel");
  }
  if (!pin_rate || !bits || hbm.channels() == 0) return;
  const Bandwidth derived = *pin_rate * *bits * hbm.channels();
  if (!section.has("bandwidth")) {
    hbm.bandwidth = derived;
  } else if (std::abs(hbm.bandwidth / derived - 1) > kRounding) {
    section.complain("bandwidth",
                     fmt::format("{} contradicts pin_rate x bits_per_channel x {} channels = {}",
                                 to_text(hbm.bandwidth), hbm.channels(), to_text(derived)),
                     "one of the two, or equal figures");
  }
}

/// Timings, and a controller that suits them, of `preset` where the file states none.
void read_preset(FieldReader& reader, Hbm& hbm) {
  const ConfigSection& section = reader.section_of("hbm");
  const auto name = section.maybe<std::string>("preset", any_value);
  if (!name) return;
  const auto preset = hbm_preset(*name);
  if (!preset) {
    section.complain("preset", fmt::format("there is no memory {}", in_quotes(*name)),
                     fmt::format("one of {}", fmt::join(hbm_preset_names(), ", ")));
    return;
  }
  if (reader.section_of("hbm.timing").present()) {
    section.complain("preset", "stands beside hbm.timing", "one of the two");
    return;
  }
  hbm.timing = preset->timing;
  if (!reader.section_of("hbm.controller").present()) hbm.controller = preset->controller;
}

void check_kinds(const ConfigSection& by_kind) {
  for (const std::string& kind : by_kind.keys()) {
    if (std::find(kLaunchKinds.begin(), kLaunchKinds.end(), kind) != kLaunchKinds.end()) continue;
    const std::string nearest = nearest_name(kind, {kLaunchKinds.begin(), kLaunchKinds.end()});
    by_kind.complain(kind, "no such kind of operator",
                     nearest.empty() ? fmt::format("one of {}", fmt::join(kLaunchKinds, ", "))
                                     : fmt::format("a kind such as {}", nearest));
  }
}

Chip finish(ConfigFile& file) {
  Chip chip = read_chip(file.root());
  file.finish();
  return chip;
}

}  // namespace

Chip read_chip(const ConfigSection& section) {
  Chip chip;
  FieldReader reader(section, {"vector_cores.row_kernels", "vector_cores.throughput", "hbm.timing", "hbm.controller",
                               "launch", "launch.host"});
  visit_chip_fields(chip, reader);
  if (reader.section_of("hbm").present()) read_preset(reader, chip.hbm);
  if (reader.section_of("hbm").present()) read_bandwidth(reader.section_of("hbm"), chip.hbm);
  check_kinds(reader.section_of("launch.host"));
  check_kinds(reader.section_of("vector_cores.row_kernels"));
  for (const ChipProblem& problem : chip_problems(chip)) {
    const auto [parent, key] = split_path(problem.path);
    reader.section_of(parent).complain(key, problem.problem, problem.expected);
  }
  return chip;
}

void write_chip(const Chip& chip, FieldWriter& writer) { visit_chip_fields(chip, writer); }

Chip load_chip(const std::filesystem::path& path) {
  ConfigFile file(path);
  return finish(file);
}

Chip load_chip_text(std::string_view text, const std::string& name) {
  ConfigFile file(parse_yaml(text, name), name);
  return finish(file);
}

std::string to_yaml(const Chip& chip) {
  FieldWriter writer;
  write_chip(chip, writer);
  return writer.text();
}

}  // namespace tandem
