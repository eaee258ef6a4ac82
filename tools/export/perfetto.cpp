// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/export/exporters.h"
#include "tools/export/text_sink.h"

namespace tandem {
namespace {

/// Room kept for the end of the file when the limit is near.
constexpr std::int64_t kTail = 4096;
/// Above any id of a unit.
constexpr std::int64_t kFirstSlicePid = 1'000'000'000;

/// A text as a JSON string, quotes included.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Picoseconds as microseconds, exactly.
std::string microseconds(std::int64_t picoseconds) {
  constexpr std::int64_t kPerMicrosecond = 1'000'000;
  const bool negative = picoseconds < 0;
  const std::int64_t size = negative ? -picoseconds : picoseconds;
  return fmt::format("{}{}.{:06}", negative ? "-" : "", size / kPerMicrosecond, size % kPerMicrosecond);
}

/// Which process (device) and thread (unit) each unit is shown as.
struct Row {
  std::int64_t pid = 0, tid = 0;
  std::string name;
};

class UnitRows {
 public:
  explicit UnitRows(const std::vector<TraceUnit>& units) {
    std::map<std::int64_t, const TraceUnit*> by_id;
    for (const TraceUnit& unit : units) by_id[unit.id] = &unit;
    for (const TraceUnit& unit : units) {
      const TraceUnit* top = &unit;
      // A chain of parents is no longer than there are units; a damaged file must not make this endless.
      for (std::size_t steps = 0; steps < units.size() && by_id.contains(top->parent); ++steps)
        top = by_id[top->parent];
      rows_[unit.id] = {top->id + 1, unit.id + 1, unit.name};
      devices_[top->id + 1] = top->name;
    }
  }

  [[nodiscard]] const Row* find(std::int64_t unit) const {
    const auto found = rows_.find(unit);
    return found == rows_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const std::map<std::int64_t, Row>& rows() const { return rows_; }
  [[nodiscard]] const std::map<std::int64_t, std::string>& devices() const { return devices_; }

 private:
  std::map<std::int64_t, Row> rows_;
  std::map<std::int64_t, std::string> devices_;  ///< by pid
};

class PerfettoWriter {
 public:
  PerfettoWriter(const TraceFile& trace, const EventFilter& filter, std::int64_t limit,
                 const std::filesystem::path& out)
      : trace_(trace), filter_(filter), limit_(limit), rows_(trace.units()), sink_(out) {}

  ExportResult write() {
    sink_.write("{\"displayTimeUnit\":\"ns\",\"otherData\":{");
    sink_.write(fmt::format("\"tandem\":{},\"complete\":{}}},\"traceEvents\":[\n",
                            quoted(trace_.attribute("tandem_version")), trace_.complete() ? "true" : "false"));
    write_names();
    trace_.for_each("/events", [&](const TraceSpan& span) { write_span(span, 0); });
    for (const std::string& counter : trace_.counters()) write_counter(counter);
    write_slices();  // last: they are the most, and the limit may cut them
    sink_.write("\n]}\n");
    result_.bytes = sink_.written();
    sink_.close();
    return result_;
  }

 private:
  void write_event(const std::string& json) {
    sink_.write(first_ ? json : ",\n" + json);
    first_ = false;
  }

  void write_names() {
    for (const auto& [pid, name] : rows_.devices()) {
      write_event(
          fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid, quoted(name)));
      write_event(
          fmt::format(R"({{"ph":"M","pid":{0},"name":"process_sort_index","args":{{"sort_index":{0}}}}})", pid));
    }
    for (const auto& [unit, row] : rows_.rows()) {
      write_event(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", row.pid,
                              row.tid, quoted(row.name)));
    }
  }

  [[nodiscard]] bool full() const { return sink_.written() + kTail > limit_; }

  /// Tile events are stored once per distinct slice, from its own start: each slice is shown as a device of its own.
  void write_slices() {
    std::int64_t pid = kFirstSlicePid;
    for (const std::string& table : trace_.event_tables()) {
      if (table == "/events" || trace_.spans(table) == 0) continue;
      const std::string title = "one run of " + trace_.slice_name(table) + " (from its start)";
      write_event(
          fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", pid, quoted(title)));
      for (const auto& [unit, row] : rows_.rows()) {
        write_event(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid,
                                row.tid, quoted(row.name)));
      }
      trace_.for_each(table, [&](const TraceSpan& span) { write_span(span, pid); });
      ++pid;
    }
  }

  /// `slice_pid`: 0 for an event of the whole run.
  void write_span(const TraceSpan& span, std::int64_t slice_pid) {
    const Row* row = rows_.find(span.unit);
    if (row == nullptr || !filter_.passes(span, row->name)) {
      ++result_.filtered;
      return;
    }
    if (full()) {
      ++result_.capped;
      return;
    }
    const std::string kind = trace_.kind_name(span.kind);
    const auto& operators = trace_.operators();
    const bool named = span.operation >= 0 && span.operation < static_cast<std::int64_t>(operators.size());
    std::string args;
    if (span.bytes > 0) args += fmt::format("\"bytes\":{}", span.bytes);
    if (span.microbatch >= 0) args += fmt::format("{}\"microbatch\":{}", args.empty() ? "" : ",", span.microbatch);
    write_event(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":{},"args":{{{}}}}})",
                            slice_pid == 0 ? row->pid : slice_pid, row->tid, microseconds(span.start_ps),
                            microseconds(span.end_ps - span.start_ps),
                            quoted(named ? operators[static_cast<std::size_t>(span.operation)] : kind), quoted(kind),
                            args));
    ++result_.written;
  }

  void write_counter(const std::string& name) {
    const std::string path = "/counters/" + name;
    const hdf5::Table table = trace_.file().read_table(path);
    if (table.columns.size() < 2) return;
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const auto* at = std::get_if<std::int64_t>(&table.data[0][i]);
      if (at == nullptr || *at < filter_.from_ps || *at > filter_.to_ps) continue;
      if (full()) {
        ++result_.capped;
        continue;
      }
      const hdf5::Cell& cell = table.data[1][i];
      const double value = std::holds_alternative<double>(cell) ? std::get<double>(cell)
                                                                : static_cast<double>(std::get<std::int64_t>(cell));
      write_event(fmt::format(R"({{"ph":"C","pid":0,"ts":{},"name":{},"args":{{"value":{:.9g}}}}})", microseconds(*at),
                              quoted(name), value));
    }
  }

  const TraceFile& trace_;
  const EventFilter& filter_;
  std::int64_t limit_;
  UnitRows rows_;
  TextSink sink_;
  ExportResult result_;
  bool first_ = true;
};

}  // namespace

bool EventFilter::passes(const TraceSpan& span, const std::string& unit_name) const {
  return span.end_ps >= from_ps && span.start_ps <= to_ps && span.end_ps - span.start_ps >= min_duration_ps &&
         (unit.empty() || unit_name.find(unit) != std::string::npos);
}

ExportResult export_perfetto(const TraceFile& trace, const EventFilter& filter, std::int64_t limit_bytes,
                             const std::filesystem::path& out) {
  return PerfettoWriter(trace, filter, limit_bytes, out).write();
}

}  // namespace tandem
