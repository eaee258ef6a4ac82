// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/hdf5_trace.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <stdexcept>

#include "sim/trace/config_texts.h"
#include "sim/trace/summary_tables.h"

namespace tandem {
namespace {

using hdf5::Column;
using hdf5::ColumnType;

constexpr std::int64_t kFormatVersion = 1;
constexpr std::int64_t kRowsBetweenFlushes = 65536;
constexpr std::int64_t kRowsBetweenClockReads = 256;
constexpr std::int64_t kSmallChunk = 1024;
constexpr int kNameWidth = 128;

std::vector<Column> event_columns() {
  return {{.name = "start_ps", .unit = "ps", .description = "from the start of the iteration, or of the slice"},
          {.name = "end_ps", .unit = "ps", .description = "as start_ps"},
          {.name = "unit", .type = ColumnType::int32, .unit = "1", .description = "id in /units"},
          {.name = "operator", .type = ColumnType::int32, .unit = "1", .description = "id in /operators; -1: none"},
          {.name = "kind", .type = ColumnType::int8, .unit = "1", .description = "code in /names/event_kind"},
          {.name = "microbatch", .type = ColumnType::int32, .unit = "1", .description = "-1: none"},
          {.name = "bytes", .unit = "B", .description = "moved"}};
}

std::vector<Column> unit_columns() {
  return {{.name = "id", .type = ColumnType::int32, .unit = "1", .description = "what events call it"},
          {.name = "name",
           .type = ColumnType::text,
           .unit = "1",
           .description = "e.g. chip0.tensor_core3",
           .width = kNameWidth},
          {.name = "kind", .type = ColumnType::text, .unit = "1", .description = "e.g. tensor_core", .width = 64},
          {.name = "parent", .type = ColumnType::int32, .unit = "1", .description = "id; -1: none"}};
}

std::vector<Column> operator_columns() {
  return {{.name = "id", .type = ColumnType::int32, .unit = "1", .description = "what events call it"},
          {.name = "name", .type = ColumnType::text, .unit = "1", .description = "operator", .width = kNameWidth},
          {.name = "kind", .type = ColumnType::int8, .unit = "1", .description = "code in /names/operator_kind"},
          {.name = "layer",
           .type = ColumnType::text,
           .unit = "1",
           .description = "slice that it belongs to",
           .width = kNameWidth},
          {.name = "pass", .type = ColumnType::int8, .unit = "1", .description = "code in /names/pass"},
          {.name = "flops", .unit = "FLOP", .description = "needed operations"},
          {.name = "bytes", .unit = "B", .description = "least traffic to and from HBM"}};
}

std::vector<Column> memory_columns() {
  std::vector<Column> columns{
      {.name = "time_ps", .unit = "ps", .description = "held from then on"},
      {.name = "unit", .type = ColumnType::int32, .unit = "1", .description = "id in /units; each of its chips"}};
  for (const char* category : {"parameters", "gradients", "optimizer", "stash", "workspace"}) {
    columns.push_back({.name = category, .unit = "B", .description = "of one device"});
  }
  return columns;
}

std::vector<Column> slice_run_columns() {
  return {{.name = "start_ps", .unit = "ps", .description = "start of the slice in the iteration"},
          {.name = "unit", .type = ColumnType::int32, .unit = "1", .description = "id in /units; on all its chips"},
          {.name = "slice", .type = ColumnType::int32, .unit = "1", .description = "group under /slices"},
          {.name = "microbatch", .type = ColumnType::int32, .unit = "1", .description = "-1: none"}};
}

std::string now_text() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

Hdf5Trace::Hdf5Trace(const std::filesystem::path& path, const Cluster& cluster, const Program& program,
                     const SimulationOptions& options)
    : file_(hdf5::File::create(path)), last_flush_(std::chrono::steady_clock::now()) {
  file_.set_attribute("/", "format", std::string_view("tandem trace"));
  file_.set_attribute("/", "version", kFormatVersion);
  file_.set_attribute("/", "tandem_version", std::string_view(TANDEM_VERSION));
  file_.set_attribute("/", "command_line", std::string_view(options.command_line));
  file_.set_attribute("/", "seed", static_cast<std::int64_t>(options.seed));
  file_.set_attribute("/", "created", std::string_view(now_text()));
  file_.set_attribute("/", "detail", name_of(options.detail));
  file_.set_attribute("/", "complete", std::int64_t{0});
  write_config(cluster, program);
  create_tables(program);
}

void Hdf5Trace::write_config(const Cluster& cluster, const Program& program) {
  file_.create_group("/config");
  for (const ConfigText& config : config_texts(cluster, program)) {
    const std::string path = "/config/" + config.name;
    file_.write_text(path, config.text);
    file_.set_attribute(path, "hash", std::string_view(config.hash));
  }
}

template <typename E>
void Hdf5Trace::write_names(const std::string& enumeration) {
  auto table = file_.create_table(
      "/names/" + enumeration,
      {{.name = "code", .type = ColumnType::int8, .unit = "1", .description = "as in the tables"},
       {.name = "name", .type = ColumnType::text, .unit = "1", .description = "what it means", .width = 64}},
      kSmallChunk);
  std::vector<E> seen;
  for (const auto& [value, name] : EnumNames<E>::values) {
    if (std::find(seen.begin(), seen.end(), value) != seen.end()) continue;  // an alias
    seen.push_back(value);
    table.append({static_cast<std::int64_t>(value), std::string(name)});
  }
  table.flush();
}

void Hdf5Trace::create_tables(const Program& program) {
  const auto create = [this](const std::string& path, std::vector<Column> columns, std::int64_t chunk) {
    return &tables_.emplace(path, file_.create_table(path, std::move(columns), chunk)).first->second;
  };
  write_names<EventKind>("event_kind");
  write_names<OperatorKind>("operator_kind");
  write_names<Pass>("pass");
  write_names<Cause>("cause");
  create("/units", unit_columns(), kSmallChunk);
  create("/operators", operator_columns(), kSmallChunk);
  events_ = create("/events", event_columns(), kRowsBetweenFlushes);
  memory_ = create("/memory", memory_columns(), kRowsBetweenFlushes);
  slice_runs_ = create("/slice_runs", slice_run_columns(), kRowsBetweenFlushes);
  for (std::size_t i = 0; i < program.slices.size(); ++i) {
    const std::string group = fmt::format("/slices/{}", i);
    slice_events_.push_back(create(group + "/events", event_columns(), kRowsBetweenFlushes));
    file_.set_attribute(group, "name", std::string_view(program.slices[i].name));
  }
  file_.create_group("/counters");
  for (auto& [path, columns] : summary_tables()) create(path, columns, kSmallChunk);
}

std::int32_t Hdf5Trace::add_unit(std::string_view name, std::string_view kind, std::int32_t parent) {
  const auto [entry, fresh] = units_.try_emplace(std::string(name), static_cast<std::int32_t>(units_.size()));
  if (fresh) {
    table("/units").append({std::int64_t{entry->second}, std::string(name), std::string(kind), std::int64_t{parent}});
  }
  return entry->second;
}

std::int32_t Hdf5Trace::add_operator(std::string_view slice, const Operator& op) {
  const auto id = static_cast<std::int32_t>(table("/operators").rows());
  table("/operators")
      .append({std::int64_t{id}, op.name, static_cast<std::int64_t>(op.kind), std::string(slice),
               static_cast<std::int64_t>(op.pass), op.flops().value(), op.hbm_bytes().value()});
  return id;
}

std::int32_t Hdf5Trace::add_counter(std::string_view name, std::string_view unit) {
  const auto [entry, fresh] = counter_ids_.try_emplace(std::string(name), static_cast<std::int32_t>(counters_.size()));
  if (!fresh) return entry->second;
  if (started_) throw std::logic_error(fmt::format("counter {} was announced after the trace had begun", name));
  const std::string path = fmt::format("/counters/{}", name);
  counters_.push_back(
      &tables_
           .emplace(path, file_.create_table(path,
                                             {{.name = "time_ps", .unit = "ps", .description = "holds from then on"},
                                              {.name = "value",
                                               .type = ColumnType::float64,
                                               .unit = std::string(unit),
                                               .description = std::string(name)}},
                                             kRowsBetweenFlushes))
           .first->second);
  return entry->second;
}

void Hdf5Trace::start() {
  file_.start_swmr();
  started_ = true;
  flush();
}

void Hdf5Trace::event(const TraceEvent& event) {
  hdf5::TableWriter& into = slice_ < 0 ? *events_ : *slice_events_.at(static_cast<std::size_t>(slice_));
  const std::array<std::int64_t, 7> row{
      event.start.count(), event.end.count(),  event.unit, event.operation, static_cast<std::int64_t>(event.kind),
      event.microbatch,    event.bytes.value()};
  into.append_integers(row);
  flush_if_due();
}

void Hdf5Trace::counter(std::int32_t id, Picoseconds at, double value) {
  counters_.at(static_cast<std::size_t>(id))->append({at.count(), value});
  flush_if_due();
}

void Hdf5Trace::memory(Picoseconds at, std::int32_t unit, const MemoryFootprint& held) {
  const std::array<std::int64_t, 7> row{at.count(),
                                        unit,
                                        held.parameters.value(),
                                        held.gradients.value(),
                                        held.optimizer.value(),
                                        held.stash.value(),
                                        held.workspace.value()};
  memory_->append_integers(row);
  flush_if_due();
}

void Hdf5Trace::slice_run(Picoseconds start, std::int32_t unit, std::int32_t slice, std::int32_t microbatch) {
  const std::array<std::int64_t, 4> row{start.count(), unit, slice, microbatch};
  slice_runs_->append_integers(row);
  flush_if_due();
}

void Hdf5Trace::flush_if_due() {
  if (++since_flush_ % kRowsBetweenClockReads != 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (since_flush_ >= kRowsBetweenFlushes || now - last_flush_ >= std::chrono::seconds(1)) flush();
}

void Hdf5Trace::flush() {
  for (auto& [path, writer] : tables_) writer.flush();
  file_.flush();
  since_flush_ = 0;
  last_flush_ = std::chrono::steady_clock::now();
}

void Hdf5Trace::write_summary(const Answer& simulated, const Answer* predicted, const ClusterRun& run) {
  write_summary_rows(tables_, simulated, predicted, run);
}

void Hdf5Trace::complete() {
  flush();
  file_.set_attribute("/", "complete", std::int64_t{1});
  file_.flush();
}

}  // namespace tandem
