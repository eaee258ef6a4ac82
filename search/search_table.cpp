// SPDX-License-Identifier: Apache-2.0
#include "search/search_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "arch/support/hdf5.h"
#include "search/tasks.h"

namespace tandem {
namespace {

using hdf5::Cell;
using hdf5::Column;
using hdf5::ColumnType;

/// One row's origin.
struct Row {
  const Candidate& candidate;
  const Chip& chip;
};

/// A column with how to fill it.
struct Field {
  Column column;
  std::function<Cell(const Row&)> value;
};

template <typename Value>
Field number(std::string name, std::string unit, std::string description, Value value) {
  using Result = std::invoke_result_t<Value, const Row&>;
  const auto type = std::is_floating_point_v<Result> ? ColumnType::float64 : ColumnType::int64;
  return {{std::move(name), type, std::move(unit), std::move(description), 0},
          [value = std::move(value)](const Row& row) { return Cell(value(row)); }};
}

template <typename Value>
Field code(std::string name, std::string description, Value value) {
  return {{std::move(name), ColumnType::int8, "1", std::move(description), 0},
          [value = std::move(value)](const Row& row) { return Cell(static_cast<std::int64_t>(value(row))); }};
}

std::string stages_text(const Candidate& candidate) {
  return fmt::format("{}", fmt::join(candidate.plan.stage_layers, " "));
}

std::vector<Field> architecture_fields(DataType dtype) {
  return {
      number("architecture", "1", "position in the enumeration", [](const Row& r) { return r.candidate.architecture; }),
      number("tensor_cores", "1", "per chip", [](const Row& r) { return r.chip.tensor.count; }),
      number("arrays", "1", "systolic arrays of a tensor core", [](const Row& r) { return r.chip.tensor.arrays; }),
      number("rows", "1", "of an array", [](const Row& r) { return r.chip.tensor.rows; }),
      number("cols", "1", "of an array", [](const Row& r) { return r.chip.tensor.cols; }),
      number("vector_cores", "1", "per chip", [](const Row& r) { return r.chip.vector.count; }),
      number("lanes", "1", "of a vector core", [](const Row& r) { return r.chip.vector.lanes; }),
      number("global_buffer", "B", "capacity", [](const Row& r) { return r.chip.glb.capacity.value(); }),
      number("hbm_capacity", "B", "per chip", [](const Row& r) { return r.chip.hbm.capacity.value(); }),
      number("hbm_bandwidth", "B/s", "per chip", [](const Row& r) { return r.chip.hbm.bandwidth.value(); }),
      number("clock", "Hz", "of the chip", [](const Row& r) { return r.chip.clock.value(); }),
      number("peak", "FLOP/s", "dense, of the search's data type",
             [dtype](const Row& r) { return r.chip.peak(dtype).value(); }),
      number("area", "mm2", "estimated", [](const Row& r) { return r.candidate.area.value() * 1e-6; })};
}

std::vector<Field> plan_fields(int stages_width) {
  return {number("plan_rank", "1", "among the plans kept of the architecture",
                 [](const Row& r) { return r.candidate.plan_rank; }),
          number("tp", "1", "tensor parallel", [](const Row& r) { return r.candidate.plan.tp; }),
          number("pp", "1", "pipeline parallel", [](const Row& r) { return r.candidate.plan.pp; }),
          number("dp", "1", "data parallel", [](const Row& r) { return r.candidate.plan.dp; }),
          number("microbatch", "1", "sequences", [](const Row& r) { return r.candidate.plan.microbatch; }),
          number("virtual_stages", "1", "per device", [](const Row& r) { return r.candidate.plan.virtual_stages; }),
          number("zero_stage", "1", "of ZeRO", [](const Row& r) { return r.candidate.plan.zero_stage; }),
          code("sequence_parallel", "1: yes", [](const Row& r) { return r.candidate.plan.sequence_parallel; }),
          code("overlap_gradients", "1: yes", [](const Row& r) { return r.candidate.plan.overlap_gradients; }),
          code("recompute", "see /names/recompute", [](const Row& r) { return r.candidate.plan.recompute; }),
          code("schedule", "see /names/schedule", [](const Row& r) { return r.candidate.plan.schedule; }),
          code("attention", "see /names/attention", [](const Row& r) { return r.candidate.plan.attention; }),
          {{"stage_layers", ColumnType::text, "1", "layers of each stage, first to last", stages_width},
           [](const Row& r) { return Cell(stages_text(r.candidate)); }}};
}

using Chosen = std::optional<Throughput> Candidate::*;

/// Time -1 and rates 0 where there is no answer.
void add_throughput(std::vector<Field>& fields, const std::string& prefix, Chosen which) {
  fields.push_back(number(prefix + "_time", "ps", "of one iteration; -1: none", [which](const Row& r) {
    const auto& answer = r.candidate.*which;
    return answer ? static_cast<std::int64_t>(answer->time.count()) : std::int64_t{-1};
  }));
  fields.push_back(number(prefix + "_throughput", "token/s", "0: none", [which](const Row& r) {
    const auto& answer = r.candidate.*which;
    return answer ? answer->tokens_per_second : 0.0;
  }));
  fields.push_back(number(prefix + "_mfu", "1", "a fraction; 0: none", [which](const Row& r) {
    const auto& answer = r.candidate.*which;
    return answer ? answer->mfu : 0.0;
  }));
}

std::vector<std::int64_t> ranks(const SearchResult& result) {
  std::vector<std::int64_t> rank(result.candidates.size(), 0);
  for (std::size_t i = 0; i < result.ranking.size(); ++i) rank[result.ranking[i]] = static_cast<std::int64_t>(i + 1);
  return rank;
}

std::vector<Field> all_fields(const SearchConfig& config, const SearchResult& result) {
  std::size_t stages_width = 1, reason_width = 1;
  for (const Candidate& candidate : result.candidates) {
    stages_width = std::max(stages_width, stages_text(candidate).size());
    reason_width = std::max(reason_width, candidate.reason.size());
  }
  std::vector<Field> fields = architecture_fields(config.plans.dtype);
  for (Field& field : plan_fields(static_cast<int>(stages_width))) fields.push_back(std::move(field));
  add_throughput(fields, "predicted", &Candidate::predicted);
  add_throughput(fields, "simulated", &Candidate::simulated);
  fields.push_back(number("rank", "1", "in the final ranking, from 1; 0: none",
                          [rank = ranks(result), first = result.candidates.data()](const Row& r) {
                            return rank[static_cast<std::size_t>(&r.candidate - first)];
                          }));
  fields.push_back(code("status", "see /names/status", [](const Row& r) { return r.candidate.status; }));
  fields.push_back({{"reason", ColumnType::text, "1", "why it went no further", static_cast<int>(reason_width)},
                    [](const Row& r) { return Cell(r.candidate.reason); }});
  return fields;
}

template <typename E>
void write_names(hdf5::File& file, const std::string& path) {
  std::size_t width = 1;
  for (const auto& [value, name] : EnumNames<E>::values) width = std::max(width, name.size());
  auto table = file.create_table(path, {{"code", ColumnType::int8, "1", "as stored", 0},
                                        {"name", ColumnType::text, "1", "meaning", static_cast<int>(width)}});
  for (const auto& [value, name] : EnumNames<E>::values) {
    table.append({static_cast<std::int64_t>(value), std::string(name)});
  }
  table.flush();
}

void write_axes(hdf5::File& file, const DesignSpace& space) {
  std::size_t path_width = 1, values_width = 1;
  const auto values = [](const DesignAxis& axis) { return fmt::format("{}", fmt::join(axis.values, ", ")); };
  for (const DesignAxis& axis : space.axes) {
    path_width = std::max(path_width, axis.path.size());
    values_width = std::max(values_width, values(axis).size());
  }
  auto table =
      file.create_table("/axes", {{"field", ColumnType::text, "1", "of the chip", static_cast<int>(path_width)},
                                  {"values", ColumnType::text, "1", "tried", static_cast<int>(values_width)}});
  for (const DesignAxis& axis : space.axes) table.append({axis.path, values(axis)});
  table.flush();
}

void write_candidates(hdf5::File& file, const SearchConfig& config, const std::vector<DesignPoint>& designs,
                      const SearchResult& result) {
  const std::vector<Field> fields = all_fields(config, result);
  std::vector<Column> columns;
  for (const Field& field : fields) columns.push_back(field.column);
  auto table = file.create_table("/candidates", columns);
  for (const Candidate& candidate : result.candidates) {
    const Row row{candidate, designs[position_of(designs, candidate.architecture)].chip};
    std::vector<Cell> cells;
    for (const Field& field : fields) cells.push_back(field.value(row));
    table.append(cells);
  }
  table.flush();
}

}  // namespace

void write_search_table(const std::filesystem::path& path, const SearchConfig& config,
                        const std::vector<DesignPoint>& designs, const SearchResult& result) {
  std::filesystem::path draft = path;
  draft += ".part";
  {
    hdf5::File file = hdf5::File::create(draft);
    file.set_attribute("/", "format", "tandem-search");
    file.set_attribute("/", "version", std::int64_t{1});
    file.set_attribute("/", "status", name_of(result.status));
    write_axes(file, config.space);
    write_candidates(file, config, designs, result);
    write_names<CandidateStatus>(file, "/names/status");
    write_names<Recompute>(file, "/names/recompute");
    write_names<PipelineSchedule>(file, "/names/schedule");
    write_names<Attention>(file, "/names/attention");
    file.flush();
  }
  std::filesystem::rename(draft, path);
}

}  // namespace tandem
