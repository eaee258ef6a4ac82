// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "arch/support/units.h"
#include "tools/answer_json.h"
#include "tools/command_line.h"
#include "tools/export/exporters.h"
#include "tools/files.h"

namespace tandem {
namespace {

/// Beyond this the viewers slow down or give up.
constexpr std::int64_t kDefaultLimit = 200'000'000;

std::int64_t picoseconds(std::string_view flag, const std::string& text) {
  const auto parsed = parse_quantity<Seconds>(text);
  if (const auto* problem = std::get_if<UnitError>(&parsed)) {
    throw ConfigError(
        {Diagnostic{"", 0, 0, std::string(flag), problem->problem, problem->expected, problem->suggestion}});
  }
  return to_picoseconds(std::get<Seconds>(parsed)).count();
}

EventFilter filter_from(const Arguments& arguments) {
  EventFilter filter;
  if (const auto window = arguments.text("window")) {
    const std::size_t dots = window->find("..");
    if (dots == std::string::npos)
      throw ConfigError(fmt::format("--window {}: expected FROM..TO, e.g. '1 ms..2.5 ms'", *window));
    if (dots > 0) filter.from_ps = picoseconds("--window", window->substr(0, dots));
    if (dots + 2 < window->size()) filter.to_ps = picoseconds("--window", window->substr(dots + 2));
    if (filter.from_ps > filter.to_ps) throw ConfigError(fmt::format("--window {}: ends before it begins", *window));
  }
  if (const auto shortest = arguments.text("min-duration"))
    filter.min_duration_ps = picoseconds("--min-duration", *shortest);
  filter.unit = arguments.text("unit").value_or("");
  return filter;
}

std::int64_t limit_from(const Arguments& arguments) {
  const auto text = arguments.text("limit");
  if (!text) return kDefaultLimit;
  const auto parsed = parse_quantity<Bytes>(*text);
  if (const auto* problem = std::get_if<UnitError>(&parsed)) {
    throw ConfigError({Diagnostic{"", 0, 0, "--limit", problem->problem, problem->expected, problem->suggestion}});
  }
  return std::get<Bytes>(parsed).value();
}

void report(const Session& session, const TraceFile& trace, const ExportResult& result, const std::string& out) {
  if (!trace.complete()) note(session, "the trace is incomplete: its run was stopped or is still going on");
  if (result.capped > 0) {
    note(session, fmt::format("{} events were left out to keep the file below --limit; narrow with --window, --unit "
                              "or --min-duration, or raise it (the HDF5 file has them all)",
                              result.capped));
  }
  if (session.json) {
    const nlohmann::ordered_json json{{"out", out},
                                      {"events", result.written},
                                      {"filtered", result.filtered},
                                      {"capped", result.capped},
                                      {"bytes", result.bytes},
                                      {"complete", trace.complete()}};
    print(text_of(json));
  } else if (out != "-") {
    print(fmt::format("{}: {} events, {} of text{}\n", out, result.written, to_text(Bytes(result.bytes)),
                      result.filtered > 0 ? fmt::format(" ({} filtered out)", result.filtered) : ""));
  }
}

ExitCode run(const Arguments& arguments, const Session& session) {
  if (arguments.files().empty()) throw ConfigError("which trace? tandem export TRACE.h5 --format perfetto -o OUT");
  const std::string out = arguments.text("output").value_or("");
  if (out.empty()) throw ConfigError("--output is missing: where to write (- is standard output)");
  if (session.json && out == "-") throw ConfigError("--json and --output - both want standard output");
  const std::string format = arguments.text("format").value_or("perfetto");
  if (format != "perfetto" && format != "csv") {
    throw ConfigError(fmt::format("--format {}: expected perfetto or csv", format));
  }
  const EventFilter filter = filter_from(arguments);
  const auto table = arguments.text("table");
  if (table && format != "csv") throw ConfigError("--table goes with --format csv only");
  const bool one_file = format == "perfetto" || table.has_value();
  if (one_file && out != "-") require_writable(out);
  if (!one_file && out == "-")
    throw ConfigError("--format csv writes a folder; with --table NAME it can write one file or -");
  const TraceFile trace(arguments.files().front());
  ExportResult result;
  if (format == "perfetto") {
    result = export_perfetto(trace, filter, limit_from(arguments), out);
  } else if (table) {
    result = export_csv_table(trace, filter, *table, out);
  } else {
    result = export_csv(trace, filter, out);
  }
  report(session, trace, result, out);
  return ExitCode::done;
}

}  // namespace

Verb export_verb() {
  const FlagGroup flags{
      "Export",
      {{"format", 'f', "NAME", "perfetto (default) or csv", false, {}},
       {"output",
        'o',
        "OUT",
        "file (compressed if it ends in .gz; - is standard output), or folder for csv",
        false,
        {"out"}},
       {"table", 0, "NAME", "csv: one table only, e.g. events", false, {}},
       {"window", 0, "FROM..TO", "only events within, e.g. '1 ms..2 ms'; either end may be left out", false, {}},
       {"unit", 0, "TEXT", "only units with this in their name", false, {}},
       {"min-duration", 0, "TIME", "only events of at least this, e.g. '100 ns'", false, {}},
       {"limit", 0, "SIZE", "perfetto: stop at this much text (default 200 MB)", false, {}}}};
  return {"export",
          "a trace for other tools: Perfetto timelines, CSV tables",
          "TRACE.h5 --format perfetto|csv -o OUT",
          "Writes a trace as Trace Event JSON, which ui.perfetto.dev opens, or as CSV tables for pandas. Works on\n"
          "traces of runs that were stopped or still go on, too.\n",
          "  tandem export t.h5 --format perfetto -o t.json.gz\n"
          "  tandem export t.h5 --format perfetto --window '1 ms..2 ms' --unit chip0 -o part.json\n"
          "  tandem export t.h5 --format csv -o tables/\n"
          "  tandem export t.h5 --format csv --table events -o -\n",
          {flags},
          1,
          run};
}

}  // namespace tandem
