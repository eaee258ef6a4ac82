// SPDX-License-Identifier: Apache-2.0
#include "tools/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "arch/support/error.h"
#include "sim/trace_sink.h"

namespace tandem {
namespace {

hdf5::File open(const std::filesystem::path& path) {
  try {
    return hdf5::File::open(path);
  } catch (const std::runtime_error& error) {
    throw ConfigError(
        {Diagnostic{path.string(), 0, 0, "", fmt::format("cannot be read as HDF5: {}", error.what()), "", ""}});
  }
}

std::string text_of(const hdf5::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  return fmt::format("{:.9g}", std::get<double>(cell));
}

std::int64_t integer_of(const hdf5::Cell& cell, std::int64_t otherwise) {
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number == nullptr ? otherwise : *number;
}

std::vector<TraceUnit> read_units(const hdf5::File& file) {
  const hdf5::Table table = file.read_table("/units");
  std::vector<TraceUnit> units;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    units.push_back({integer_of(table.column("id")[row], static_cast<std::int64_t>(row)),
                     text_of(table.column("name")[row]), text_of(table.column("kind")[row]),
                     integer_of(table.column("parent")[row], -1)});
  }
  return units;
}

std::vector<std::string> read_operators(const hdf5::File& file) {
  std::vector<std::string> names;
  if (!file.exists("/operators")) return names;
  const hdf5::Table table = file.read_table("/operators");
  const bool layered = std::any_of(table.columns.begin(), table.columns.end(),
                                   [](const hdf5::Column& column) { return column.name == "layer"; });
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string name = text_of(table.column("name")[row]);
    names.push_back(layered ? text_of(table.column("layer")[row]) + "/" + name : name);
  }
  return names;
}

std::string attribute_text(const hdf5::File& file, const std::string& object, const std::string& name) {
  try {
    return std::visit(
        [](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
            return value;
          } else {
            return fmt::format("{:.9g}", static_cast<double>(value));
          }
        },
        file.attribute(object, name));
  } catch (const std::runtime_error&) {
    return "";
  }
}

}  // namespace

TraceFile::TraceFile(const std::filesystem::path& path) : file_(open(path)) {
  for (const char* group : {"/units", "/events"}) {
    if (!file_.exists(group)) {
      throw ConfigError(
          {Diagnostic{path.string(), 0, 0, group, "is not in the file", "a trace written by tandem simulate", ""}});
    }
  }
  units_ = read_units(file_);
  operators_ = read_operators(file_);
}

bool TraceFile::complete() const { return attribute("complete") == "1"; }

std::string TraceFile::kind_name(std::int64_t kind) const {
  const auto& names = EnumNames<EventKind>::values;
  if (kind < 0 || kind >= static_cast<std::int64_t>(names.size())) return fmt::format("kind {}", kind);
  return std::string(name_of(static_cast<EventKind>(kind)));
}

std::vector<std::string> TraceFile::event_tables() const {
  std::vector<std::string> tables{"/events"};
  if (!file_.exists("/slices")) return tables;
  for (const std::string& slice : file_.children("/slices")) {
    const std::string path = "/slices/" + slice + "/events";
    if (file_.exists(path)) tables.push_back(path);
  }
  return tables;
}

std::int64_t TraceFile::spans(const std::string& table) const { return file_.committed_rows(table); }

void TraceFile::for_each(const std::string& table, const std::function<void(const TraceSpan&)>& visit) const {
  constexpr std::int64_t kBlock = 65536;
  constexpr std::array<const char*, 7> kColumns{"start_ps", "end_ps",     "unit", "operator",
                                                "kind",     "microbatch", "bytes"};
  const std::int64_t rows = spans(table);
  for (std::int64_t first = 0; first < rows; first += kBlock) {
    const std::int64_t count = std::min(kBlock, rows - first);
    std::array<std::vector<std::int64_t>, kColumns.size()> block;
    for (std::size_t c = 0; c < kColumns.size(); ++c) block[c] = file_.read_integers(table, kColumns[c], first, count);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      visit({block[0][i], block[1][i], block[2][i], block[3][i], block[4][i], block[5][i], block[6][i]});
    }
  }
}

std::vector<std::string> TraceFile::counters() const {
  return file_.exists("/counters") ? file_.children("/counters") : std::vector<std::string>();
}

std::string TraceFile::attribute(const std::string& name) const { return attribute_text(file_, "/", name); }

std::string TraceFile::slice_name(const std::string& table) const {
  const std::string group = table.substr(0, table.rfind('/'));
  const std::string name = attribute_text(file_, group, "name");
  return name.empty() ? group : name;
}

}  // namespace tandem
