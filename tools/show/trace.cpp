// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "arch/support/units.h"
#include "tools/answer_json.h"
#include "tools/show/show.h"
#include "tools/text_table.h"
#include "tools/trace_file.h"
#include "workloads/answer.h"

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
    if (*number == -1) return "-";
    if (column.unit == "ps") return to_text(Picoseconds(*number));
    if (column.unit == "B") return to_text(Bytes(*number));
    return std::to_string(*number);
  }
  const double number = std::get<double>(cell);
  return number < 0 ? std::string("-") : column.unit == "1" ? percent(number) : fmt::format("{:.6g}", number);
}

/// Which part of a stored table to show: some columns of the rows with the largest value of one of them.
struct View {
  std::string path, title;
  std::vector<std::string> columns;
  std::string largest;  ///< empty: the first rows
};

double value_of(const hdf5::Cell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*number);
  const auto* real = std::get_if<double>(&cell);
  return real == nullptr ? 0 : *real;
}

const hdf5::Column* find_column(const hdf5::Table& table, const std::string& name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const hdf5::Column& column) { return column.name == name; });
  return found == table.columns.end() ? nullptr : &*found;
}

/// Empty if the table is not in the file or has no committed row: the run may have been stopped before.
std::string stored_text(const hdf5::File& file, const View& view) {
  constexpr std::size_t kRows = 8;
  if (!file.exists(view.path) || file.committed_rows(view.path) == 0) return "";
  const hdf5::Table table = file.read_table(view.path);
  std::vector<const hdf5::Column*> columns;
  std::vector<std::string> header;
  for (const std::string& name : view.columns) {
    const hdf5::Column* column = find_column(table, name);
    if (column == nullptr) continue;
    columns.push_back(column);
    header.push_back(name.ends_with("_ps") ? name.substr(0, name.size() - 3) : name);
  }
  std::vector<std::size_t> order(table.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!view.largest.empty() && find_column(table, view.largest) != nullptr) {
    const auto& values = table.column(view.largest);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return value_of(values[a]) > value_of(values[b]); });
  }
  TextTable text(header);
  for (std::size_t i = 0; i < std::min(order.size(), kRows); ++i) {
    std::vector<std::string> cells;
    for (const hdf5::Column* column : columns)
      cells.push_back(cell_text(*column, table.column(column->name)[order[i]]));
    text.add(std::move(cells));
  }
  const std::string rest = table.rows() > kRows ? fmt::format("  ... of {} rows of {}\n", table.rows(), view.path) : "";
  return "\n" + view.title + "\n" + text.text() + rest;
}

std::string summary_text(const hdf5::File& file) {
  const std::vector<View> views{
      {"/summary/iteration",
       "iteration",
       {"predicted_ps", "simulated_ps", "predicted_tokens_per_second", "simulated_tokens_per_second", "predicted_mfu",
        "simulated_mfu"},
       ""},
      {"/summary/stages",
       "stages",
       {"stage", "predicted_forward_ps", "simulated_forward_ps", "predicted_backward_ps", "simulated_backward_ps",
        "utilisation"},
       ""},
      {"/summary/operators",
       "slowest operators",
       {"name", "slice", "predicted_ps", "simulated_ps", "utilisation"},
       "simulated_ps"},
      {"/summary/links", "hottest links", {"name", "bytes", "busy_ps", "utilisation"}, "utilisation"}};
  std::string text;
  for (const View& view : views) text += stored_text(file, view);
  return text;
}

/// Time of the iteration by cause, predicted and simulated.
std::string stored_causes(const hdf5::File& file) {
  const std::string path = "/summary/iteration";
  if (!file.exists(path) || file.committed_rows(path) == 0) return "";
  const hdf5::Table table = file.read_table(path);
  TextTable text({"cause", "predicted", "simulated"});
  for (const auto& [cause, name] : EnumNames<Cause>::values) {
    const hdf5::Column* predicted = find_column(table, fmt::format("predicted_{}_ps", name));
    const hdf5::Column* simulated = find_column(table, fmt::format("simulated_{}_ps", name));
    if (predicted == nullptr || simulated == nullptr) continue;
    const hdf5::Cell& a = table.column(predicted->name).front();
    const hdf5::Cell& b = table.column(simulated->name).front();
    if (value_of(a) <= 0 && value_of(b) <= 0) continue;
    text.add({std::string(name), cell_text(*predicted, a), cell_text(*simulated, b)});
  }
  return "\ntime of the iteration by cause\n" + text.text();
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
  text += stored_causes(trace.file()) + summary_text(trace.file());
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
