// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "arch/support/units.h"
#include "tools/answer_json.h"
#include "tools/show/show.h"
#include "tools/text_table.h"
#include "tools/trace_file.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

/// What the events of one kind of unit add up to.
struct Use {
  std::set<std::int64_t> units;
  std::int64_t events = 0, busy_ps = 0, bytes = 0;
};

struct Tally {
  std::map<std::string, Use> by_unit_kind;
  std::map<std::string, Use> by_event_kind;
  std::int64_t first_ps = 0, last_ps = 0, events = 0;

  [[nodiscard]] std::int64_t span() const { return last_ps - first_ps; }
};

Tally tally_of(const TraceFile& trace) {
  std::map<std::int64_t, std::string> kinds;
  for (const TraceUnit& unit : trace.units()) kinds[unit.id] = unit.kind;
  Tally tally;
  const auto add = [](Use& use, const TraceSpan& span) {
    use.units.insert(span.unit);
    ++use.events;
    use.busy_ps += span.end_ps - span.start_ps;
    use.bytes += span.bytes;
  };
  trace.for_each("/events", [&](const TraceSpan& span) {
    tally.first_ps = tally.events == 0 ? span.start_ps : std::min(tally.first_ps, span.start_ps);
    tally.last_ps = std::max(tally.last_ps, span.end_ps);
    ++tally.events;
    add(tally.by_unit_kind[kinds[span.unit]], span);
    add(tally.by_event_kind[trace.kind_name(span.kind)], span);
  });
  return tally;
}

std::string use_table(const std::string& title, const std::map<std::string, Use>& uses, std::int64_t span_ps) {
  TextTable table({title, "units", "events", "busy", "utilisation", "bytes"});
  for (const auto& [name, use] : uses) {
    const double offered = static_cast<double>(span_ps) * static_cast<double>(use.units.size());
    table.add({name, std::to_string(use.units.size()), std::to_string(use.events), to_text(Picoseconds(use.busy_ps)),
               percent(offered > 0 ? static_cast<double>(use.busy_ps) / offered : 0), to_text(Bytes(use.bytes))});
  }
  return table.text();
}

std::string cell_text(const hdf5::Column& column, const hdf5::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    if (column.unit == "ps") return to_text(Picoseconds(*number));
    if (column.unit == "B") return to_text(Bytes(*number));
    return std::to_string(*number);
  }
  return fmt::format("{:.5g}", std::get<double>(cell));
}

/// A small table of the file as it stands.
std::string stored_table(const hdf5::File& file, const std::string& path) {
  constexpr std::size_t kRows = 16, kColumns = 8;
  const hdf5::Table table = file.read_table(path);
  const std::size_t columns = std::min(table.columns.size(), kColumns);
  std::vector<std::string> header;
  for (std::size_t c = 0; c < columns; ++c) header.push_back(table.columns[c].name);
  TextTable text(header);
  for (std::size_t row = 0; row < std::min(table.rows(), kRows); ++row) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < columns; ++c) cells.push_back(cell_text(table.columns[c], table.data[c][row]));
    text.add(std::move(cells));
  }
  std::string result = path + "\n" + text.text();
  if (table.rows() > kRows) result += fmt::format("  ... {} rows\n", table.rows());
  return result;
}

std::vector<std::string> summary_tables(const hdf5::File& file) {
  std::vector<std::string> paths;
  if (!file.exists("/summary")) return paths;
  for (const std::string& name : file.children("/summary")) {
    const std::string path = "/summary/" + name;
    try {
      if (file.committed_rows(path) > 0) paths.push_back(path);
    } catch (const std::runtime_error&) {
      continue;  // no table
    }
  }
  return paths;
}

Json use_json(const std::map<std::string, Use>& uses) {
  Json json = Json::object();
  for (const auto& [name, use] : uses) {
    json[name] = {{"units", use.units.size()}, {"events", use.events}, {"busy_ps", use.busy_ps}, {"bytes", use.bytes}};
  }
  return json;
}

}  // namespace

Shown show_trace(const std::filesystem::path& path) {
  const TraceFile trace(path);
  const Tally tally = tally_of(trace);
  std::string text = fmt::format("trace {}: {}\n", path.string(),
                                 trace.complete() ? "complete" : "INCOMPLETE (stopped, killed or still being written)");
  for (const char* name : {"command_line", "seed", "created", "detail"}) {
    const std::string value = trace.attribute(name);
    if (!value.empty()) text += fmt::format("{:<13}{}\n", name, value);
  }
  text += fmt::format("\n{} units, {} operators, {} events over {}\n\n", trace.units().size(), trace.operators().size(),
                      tally.events, to_text(Picoseconds(tally.span())));
  text += use_table("kind of unit", tally.by_unit_kind, tally.span()) + "\n";
  text += use_table("kind of event", tally.by_event_kind, tally.span());
  for (const std::string& table : summary_tables(trace.file())) text += "\n" + stored_table(trace.file(), table);
  const Json json{{"kind", "trace"},
                  {"complete", trace.complete()},
                  {"units", trace.units().size()},
                  {"operators", trace.operators().size()},
                  {"events", tally.events},
                  {"span_ps", tally.span()},
                  {"by_unit_kind", use_json(tally.by_unit_kind)},
                  {"by_event_kind", use_json(tally.by_event_kind)}};
  return {text, text_of(json)};
}

}  // namespace tandem
