// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/summary_tables.h"

#include <fmt/format.h>

namespace tandem {
namespace {

using hdf5::Cell;
using hdf5::Column;
using hdf5::ColumnType;
using Row = std::vector<Cell>;

Column text(std::string name, std::string description) {
  return {.name = std::move(name),
          .type = ColumnType::text,
          .unit = "1",
          .description = std::move(description),
          .width = 128};
}
Column integer(std::string name, std::string unit, std::string description) {
  return {.name = std::move(name), .unit = std::move(unit), .description = std::move(description)};
}
Column real(std::string name, std::string unit, std::string description) {
  return {.name = std::move(name),
          .type = ColumnType::float64,
          .unit = std::move(unit),
          .description = std::move(description)};
}

/// Built cell by cell: moving variants out of an initializer list trips g++ 12's -Wmaybe-uninitialized.
template <typename... Values>
Row make_row(Values&&... values) {
  Row row;
  row.reserve(sizeof...(values) + 2 * kCauses);
  (row.emplace_back(std::forward<Values>(values)), ...);
  return row;
}

/// A time of both answers.
void add_times(std::vector<Column>& columns, const std::string& name, const std::string& what) {
  columns.push_back(integer("predicted_" + name + "ps", "ps", what + ", predicted; -1: not given"));
  columns.push_back(integer("simulated_" + name + "ps", "ps", what + ", simulated"));
}
void add_causes(std::vector<Column>& columns) {
  for (const char* whose : {"simulated", "predicted"}) {
    for (const auto& [cause, name] : EnumNames<Cause>::values) {
      columns.push_back(integer(fmt::format("{}_{}_ps", whose, name), "ps",
                                fmt::format("part of the {} time; the parts add up to it", whose)));
    }
  }
}
void append_causes(Row& row, const TimeByCause& simulated, const TimeByCause* predicted) {
  for (const Picoseconds part : simulated.part) row.emplace_back(part.count());
  for (std::size_t i = 0; i < kCauses; ++i) {
    row.emplace_back(predicted == nullptr ? std::int64_t{-1} : predicted->part[i].count());
  }
}

/// The same entry of the prediction, if there is one.
template <typename T>
const T* entry(const Answer* predicted, const std::vector<T> Answer::*list, std::size_t index) {
  if (predicted == nullptr || index >= (predicted->*list).size()) return nullptr;
  return &(predicted->*list)[index];
}
template <typename T>
std::int64_t picoseconds(const T* predicted, Picoseconds T::*time) {
  return predicted == nullptr ? -1 : (predicted->*time).count();
}

std::vector<Column> operator_columns() {
  std::vector<Column> columns{text("slice", "piece of a layer between two communication points"),
                              text("name", "operator"), text("kind", "operator kind"),
                              text("pass", "forward or which gradient")};
  add_times(columns, "", "time");
  columns.push_back(integer("start_ps", "ps", "simulated start within the slice"));
  columns.push_back(integer("flops", "FLOP", "needed operations"));
  columns.push_back(integer("hbm_bytes", "B", "moved to and from HBM, simulated"));
  columns.push_back(real("utilisation", "1", "of the peak of the cores it runs on, simulated"));
  add_causes(columns);
  return columns;
}

void write_operators(hdf5::TableWriter& table, const Answer& simulated, const Answer* predicted) {
  for (std::size_t i = 0; i < simulated.operators.size(); ++i) {
    const OperatorAnswer& op = simulated.operators[i];
    const auto* other = entry(predicted, &Answer::operators, i);
    Row row = make_row(op.slice, op.name, std::string(name_of(op.kind)), std::string(name_of(op.pass)),
                       picoseconds(other, &OperatorAnswer::time), op.time.count(), op.start.count(), op.flops.value(),
                       op.hbm_bytes.value(), op.utilisation);
    append_causes(row, op.by_cause, other == nullptr ? nullptr : &other->by_cause);
    table.append(row);
  }
}

std::vector<Column> slice_columns() {
  std::vector<Column> columns{text("name", "slice")};
  add_times(columns, "", "time");
  add_causes(columns);
  return columns;
}

void write_slices(hdf5::TableWriter& table, const Answer& simulated, const Answer* predicted) {
  for (std::size_t i = 0; i < simulated.slices.size(); ++i) {
    const SliceAnswer& slice = simulated.slices[i];
    const auto* other = entry(predicted, &Answer::slices, i);
    Row row = make_row(slice.name, picoseconds(other, &SliceAnswer::time), slice.time.count());
    append_causes(row, slice.by_cause, other == nullptr ? nullptr : &other->by_cause);
    table.append(row);
  }
}

std::vector<Column> layer_columns() {
  std::vector<Column> columns{text("name", "layer")};
  add_times(columns, "forward_", "forward of one microbatch, collectives included");
  add_times(columns, "backward_", "backward of one microbatch, recompute and collectives included");
  add_causes(columns);
  return columns;
}

void write_layers(hdf5::TableWriter& table, const Answer& simulated, const Answer* predicted) {
  for (std::size_t i = 0; i < simulated.layers.size(); ++i) {
    const LayerAnswer& layer = simulated.layers[i];
    const auto* other = entry(predicted, &Answer::layers, i);
    Row row = make_row(layer.name, picoseconds(other, &LayerAnswer::forward), layer.forward.count(),
                       picoseconds(other, &LayerAnswer::backward), layer.backward.count());
    append_causes(row, layer.by_cause, other == nullptr ? nullptr : &other->by_cause);
    table.append(row);
  }
}

std::vector<Column> stage_columns() {
  std::vector<Column> columns{integer("stage", "1", "pipeline position")};
  add_times(columns, "forward_", "forward of one microbatch");
  add_times(columns, "backward_", "backward of one microbatch");
  add_times(columns, "busy_", "computing or in a collective over the iteration");
  columns.push_back(real("utilisation", "1", "simulated busy time over the iteration"));
  for (const char* category : {"parameters", "gradients", "optimizer", "stash", "workspace"}) {
    columns.push_back(integer(fmt::format("{}_bytes", category), "B", "device memory, peak"));
  }
  add_causes(columns);
  return columns;
}

void write_stages(hdf5::TableWriter& table, const Answer& simulated, const Answer* predicted) {
  for (std::size_t i = 0; i < simulated.stages.size(); ++i) {
    const StageAnswer& stage = simulated.stages[i];
    const auto* other = entry(predicted, &Answer::stages, i);
    Row row = make_row(static_cast<std::int64_t>(i), picoseconds(other, &StageAnswer::forward), stage.forward.count(),
                       picoseconds(other, &StageAnswer::backward), stage.backward.count(),
                       picoseconds(other, &StageAnswer::busy), stage.busy.count(),
                       static_cast<double>(stage.busy.count()) / static_cast<double>(simulated.iteration.time.count()),
                       stage.memory.parameters.value(), stage.memory.gradients.value(), stage.memory.optimizer.value(),
                       stage.memory.stash.value(), stage.memory.workspace.value());
    append_causes(row, stage.by_cause, other == nullptr ? nullptr : &other->by_cause);
    table.append(row);
  }
}

std::vector<Column> iteration_columns() {
  std::vector<Column> columns;
  add_times(columns, "", "one training iteration");
  columns.push_back(real("predicted_tokens_per_second", "1/s", "-1: not given"));
  columns.push_back(real("simulated_tokens_per_second", "1/s", "global batch times sequence over time"));
  columns.push_back(real("predicted_mfu", "1", "-1: not given"));
  columns.push_back(real("simulated_mfu", "1", "model FLOPs over dense peak of all devices"));
  add_causes(columns);
  return columns;
}

void write_iteration(hdf5::TableWriter& table, const Answer& simulated, const Answer* predicted) {
  const IterationAnswer& iteration = simulated.iteration;
  const IterationAnswer* other = predicted == nullptr ? nullptr : &predicted->iteration;
  Row row = make_row(picoseconds(other, &IterationAnswer::time), iteration.time.count(),
                     other == nullptr ? -1.0 : other->tokens_per_second, iteration.tokens_per_second,
                     other == nullptr ? -1.0 : other->mfu, iteration.mfu);
  append_causes(row, iteration.by_cause, other == nullptr ? nullptr : &other->by_cause);
  table.append(row);
}

std::vector<Column> link_columns() {
  return {text("name", "directed channel"), integer("level", "1", "network level, from the innermost"),
          integer("bytes", "B", "carried in the iteration"), integer("busy_ps", "ps", "of all its lanes together"),
          real("utilisation", "1", "busy time over lanes and iteration")};
}

void write_links(hdf5::TableWriter& table, const std::vector<LinkUse>& links) {
  for (const LinkUse& link : links) {
    table.append(make_row(link.name, static_cast<std::int64_t>(link.level), link.bytes.value(), link.busy.count(),
                          link.utilisation));
  }
}

}  // namespace

std::vector<std::pair<std::string, std::vector<Column>>> summary_tables() {
  return {{"/summary/operators", operator_columns()},  {"/summary/slices", slice_columns()},
          {"/summary/layers", layer_columns()},        {"/summary/stages", stage_columns()},
          {"/summary/iteration", iteration_columns()}, {"/summary/links", link_columns()}};
}

void write_summary_rows(std::map<std::string, hdf5::TableWriter>& tables, const Answer& simulated,
                        const Answer* predicted, const ClusterRun& run) {
  write_operators(tables.at("/summary/operators"), simulated, predicted);
  write_slices(tables.at("/summary/slices"), simulated, predicted);
  write_layers(tables.at("/summary/layers"), simulated, predicted);
  write_stages(tables.at("/summary/stages"), simulated, predicted);
  write_iteration(tables.at("/summary/iteration"), simulated, predicted);
  write_links(tables.at("/summary/links"), run.links);
}

}  // namespace tandem
