// SPDX-License-Identifier: Apache-2.0
#include "tools/simulation_flags.h"

#include <fmt/format.h>

#include "arch/support/config_tree.h"
#include "arch/support/error.h"
#include "tools/files.h"
#include "tools/interrupt.h"

namespace tandem {
namespace {

Detail parse_detail(const std::string& text) {
  if (const auto detail = enum_from_name<Detail>(text)) return *detail;
  std::vector<std::string> names;
  for (const auto& [value, name] : EnumNames<Detail>::values) names.emplace_back(name);
  throw ConfigError({Diagnostic{"", 0, 0, "--detail", fmt::format("'{}' is unknown", text),
                                fmt::format("one of {}", fmt::join(names, ", ")), nearest_name(text, names)}});
}

void switch_off(Ideal& ideal, const std::string& effect) {
  if (effect == "hbm") {
    ideal.hbm = true;
  } else if (effect == "noc") {
    ideal.noc = true;
  } else if (effect == "links") {
    ideal.links = true;
  } else if (effect == "launch") {
    ideal.launch = true;
  } else {
    throw ConfigError(
        {Diagnostic{"", 0, 0, "--ideal", fmt::format("'{}' is unknown", effect), "a list of hbm, noc, links, launch",
                    nearest_name(effect, {"hbm", "noc", "links", "launch"})}});
  }
}

Ideal parse_ideal(const std::string& text) {
  Ideal ideal;
  std::size_t at = 0;
  while (true) {
    const std::size_t comma = text.find(',', at);
    switch_off(ideal, text.substr(at, comma == std::string::npos ? comma : comma - at));
    if (comma == std::string::npos) return ideal;
    at = comma + 1;
  }
}

}  // namespace

FlagGroup simulation_flags() {
  return {"Simulation",
          {{"trace", 't', "FILE", "write the run to an HDF5 file", false, {}},
           {"detail", 0, "LEVEL", "of the trace: summary, operator (default), tile or transaction", false, {}},
           {"ideal", 0, "LIST", "switch effects off: any of hbm,noc,links,launch", false, {}},
           {"fold", 0, "", "skip whole periods of tile loops that proved to repeat (default); same results", false, {}},
           {"no-fold", 0, "", "simulate every tile", false, {}},
           {"seed", 0, "N", "recorded in the trace (default 0)", false, {}}}};
}

SimulationOptions simulation_options(const Arguments& arguments, const Session& session, Progress* progress) {
  SimulationOptions options;
  options.command_line = session.command_line;
  if (const auto detail = arguments.text("detail")) options.detail = parse_detail(*detail);
  if (const auto ideal = arguments.text("ideal")) options.ideal = parse_ideal(*ideal);
  if (arguments.has("fold") && arguments.has("no-fold")) throw ConfigError("--fold and --no-fold exclude each other");
  if (arguments.has("no-fold")) options.fold = Fold::off;
  if (const auto seed = arguments.integer("seed")) {
    if (*seed < 0) throw ConfigError("--seed: must not be negative");
    options.seed = static_cast<std::uint64_t>(*seed);
  }
  if (const auto trace = arguments.text("trace")) {
    require_writable(*trace);
    options.trace = *trace;
  } else if (arguments.has("detail")) {
    note(session, "--detail has no effect without --trace");
  }
  options.cancelled = interrupted;
  if (progress != nullptr) options.progress = [progress](double fraction) { progress->show(fraction); };
  return options;
}

}  // namespace tandem
