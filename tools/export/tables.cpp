// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "arch/support/config_tree.h"
#include "arch/support/error.h"
#include "tools/csv.h"
#include "tools/export/exporters.h"
#include "tools/export/text_sink.h"

namespace tandem {
namespace {

bool is_table(const hdf5::File& file, const std::string& path) {
  try {
    (void)file.committed_rows(path);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void collect_tables(const hdf5::File& file, const std::string& group, std::vector<std::string>& found) {
  for (const std::string& child : file.children(group)) {
    const std::string path = (group == "/" ? "" : group) + "/" + child;
    if (is_table(file, path)) {
      found.push_back(path);
    } else if (file.exists(path) && path.find("/config") != 0) {
      try {
        collect_tables(file, path, found);
      } catch (const std::runtime_error&) {
        continue;  // a data set that is no table
      }
    }
  }
}

std::vector<std::string> tables_of(const hdf5::File& file) {
  std::vector<std::string> found;
  collect_tables(file, "/", found);
  return found;
}

std::string cell_text(const hdf5::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return csv_quoted(*text);
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  return fmt::format("{:.17g}", std::get<double>(cell));
}

void write_events(const TraceFile& trace, const EventFilter& filter, const std::string& table, TextSink& sink,
                  ExportResult& result) {
  std::map<std::int64_t, std::string> unit_names;
  for (const TraceUnit& unit : trace.units()) unit_names[unit.id] = unit.name;
  const auto& operators = trace.operators();
  sink.write("start_ps,end_ps,unit,unit_name,operator,operator_name,kind,microbatch,bytes\n");
  trace.for_each(table, [&](const TraceSpan& span) {
    const std::string& unit = unit_names[span.unit];
    if (!filter.passes(span, unit)) {
      ++result.filtered;
      return;
    }
    const bool named = span.operation >= 0 && span.operation < static_cast<std::int64_t>(operators.size());
    const std::string name = named ? operators[static_cast<std::size_t>(span.operation)] : std::string();
    sink.write(fmt::format("{},{},{},{},{},{},{},{},{}\n", span.start_ps, span.end_ps, span.unit, csv_quoted(unit),
                           span.operation, csv_quoted(name), trace.kind_name(span.kind), span.microbatch, span.bytes));
    ++result.written;
  });
}

void write_table(const hdf5::File& file, const std::string& path, TextSink& sink) {
  const hdf5::Table table = file.read_table(path);
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    sink.write((c == 0 ? "" : ",") + csv_quoted(table.columns[c].name));
  sink.write("\n");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      sink.write((c == 0 ? "" : ",") + cell_text(table.data[c][row]));
    sink.write("\n");
  }
}

bool is_event_table(const TraceFile& trace, const std::string& path) {
  const auto tables = trace.event_tables();
  return std::find(tables.begin(), tables.end(), path) != tables.end();
}

}  // namespace

ExportResult export_csv_table(const TraceFile& trace, const EventFilter& filter, const std::string& table,
                              const std::filesystem::path& file) {
  const std::string path = table.starts_with('/') ? table : "/" + table;
  const auto known = tables_of(trace.file());
  if (std::find(known.begin(), known.end(), path) == known.end()) {
    throw ConfigError({Diagnostic{"", 0, 0, "--table", fmt::format("'{}' is no table of the trace", table),
                                  fmt::format("one of {}", fmt::join(known, ", ")), nearest_name(path, known)}});
  }
  ExportResult result;
  TextSink sink(file);
  if (is_event_table(trace, path)) {
    write_events(trace, filter, path, sink, result);
  } else {
    write_table(trace.file(), path, sink);
  }
  result.bytes = sink.written();
  sink.close();
  return result;
}

ExportResult export_csv(const TraceFile& trace, const EventFilter& filter, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder)) {
    throw ConfigError({Diagnostic{folder.string(), 0, 0, "", "cannot be made a folder: " + error.message(), "", ""}});
  }
  ExportResult total;
  for (const std::string& path : tables_of(trace.file())) {
    std::string name = path.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    const ExportResult part = export_csv_table(trace, filter, path, folder / (name + ".csv"));
    total.written += part.written;
    total.filtered += part.filtered;
    total.bytes += part.bytes;
  }
  return total;
}

}  // namespace tandem
