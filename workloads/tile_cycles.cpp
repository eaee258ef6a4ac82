// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "workloads/array_accesses.h"
#include "workloads/mapping.h"

namespace tandem {
namespace {

/// What an array holds and what it streams: `held_rows` x `held_cols` elements, `streamed` vectors past them.
struct Folding {
  std::int64_t held_rows = 0, held_cols = 0, streamed = 0;
};

Folding folding(Dataflow dataflow, const TileShape& tile) {
  switch (dataflow) {
    case Dataflow::weight_stationary: return {tile.k, tile.n, tile.m};
    case Dataflow::input_stationary: return {tile.k, tile.m, tile.n};
    case Dataflow::output_stationary: return {tile.m, tile.n, tile.k};
  }
  throw std::invalid_argument("unknown dataflow");
}

/// Rows that are set up before a fold streams (stationary operand), none for stationary outputs.
std::int64_t preload(Dataflow dataflow, std::int64_t rows) {
  return dataflow == Dataflow::output_stationary ? 0 : rows;
}

/// Sum over the folds of one column of folds of max(stream, rows of the fold): loading the next fold, or shifting
/// results out, takes a cycle per row and shows only where it takes longer than the stream it hides behind.
std::int64_t stream_column(const TensorCores& cores, const Folding& work, std::int64_t stream) {
  const std::int64_t whole = work.held_rows / cores.rows;
  const std::int64_t part = work.held_rows % cores.rows;
  std::int64_t column = checked_product(whole, std::max(stream, cores.rows));
  if (part != 0) column += std::max(stream, part);
  return column;
}

/// Of an extent cut into `size`, the last part.
std::int64_t last_part(std::int64_t extent, std::int64_t size) { return extent % size == 0 ? size : extent % size; }

/// Cycles from the end of the last fold's stream until every result is out. A fold's last result leaves rows + cols - 2
/// cycles after its stream ends; a small last fold behind a large one does not wait for that, but the tile does. The
/// folds go through the rows of a column of folds, `column` cycles, and then to the next.
std::int64_t drain(const TensorCores& cores, const Folding& work, std::int64_t stream, std::int64_t column) {
  const std::int64_t last_rows = last_part(work.held_rows, cores.rows);
  const std::int64_t last_cols = last_part(work.held_cols, cores.cols);
  const bool shifts_out = cores.dataflow == Dataflow::output_stationary;
  const std::int64_t step = std::max(stream, shifts_out ? cores.rows : last_rows);
  const bool has_row_before = work.held_rows > cores.rows, has_column_before = work.held_cols > cores.cols;
  std::int64_t cycles = last_rows + last_cols;
  if (has_row_before) cycles = std::max(cycles, cores.rows + last_cols - step);
  if (has_column_before) cycles = std::max(cycles, last_rows + cores.cols - column);
  if (has_row_before && has_column_before) cycles = std::max(cycles, cores.rows + cores.cols - column - step);
  return cycles - 2;
}

TileCycles serial_folds(const TensorCores& cores, std::int64_t stream, std::int64_t folds) {
  TileCycles cycles;
  const std::int64_t fill = preload(cores.dataflow, cores.rows) + cores.rows + cores.cols - 2;
  cycles.fill_drain = Cycles(checked_product(folds, fill));
  cycles.total = Cycles(checked_product(folds, stream)) + cycles.fill_drain;
  cycles.steady = cycles.total;
  return cycles;
}

TileCycles overlapped_folds(const TensorCores& cores, const Folding& work, std::int64_t stream, std::int64_t folds) {
  TileCycles cycles;
  const std::int64_t column = stream_column(cores, work, stream);
  cycles.steady = Cycles(checked_product(column, ceil_div(work.held_cols, cores.cols)));
  // Set-up of the first fold shows in full instead of behind a stream; shifting out the last outputs is not counted.
  const std::int64_t first_rows = std::min(work.held_rows, cores.rows);
  const std::int64_t last_rows = last_part(work.held_rows, cores.rows);
  const std::int64_t lone_rows = cores.dataflow == Dataflow::output_stationary ? last_rows : first_rows;
  const std::int64_t not_hidden = std::max(stream, lone_rows) - stream;
  const std::int64_t exposed = preload(cores.dataflow, first_rows) + drain(cores, work, stream, column);
  cycles.total = cycles.steady - Cycles(not_hidden) + Cycles(exposed);
  cycles.fill_drain = cycles.total - Cycles(checked_product(folds, stream));
  return cycles;
}

TileCycles one_array(const TensorCores& cores, double rate, const TileShape& tile) {
  const Folding work = folding(cores.dataflow, tile);
  const auto stream = static_cast<std::int64_t>(std::ceil(static_cast<double>(work.streamed) / rate));
  const std::int64_t folds =
      checked_product(ceil_div(work.held_rows, cores.rows), ceil_div(work.held_cols, cores.cols));
  return cores.overlap_folds ? overlapped_folds(cores, work, stream, folds) : serial_folds(cores, stream, folds);
}

}  // namespace

TileCycles tile_cycles(const TensorCores& cores, DataType dtype, const TileShape& tile) {
  const auto rate = cores.macs_per_pe.find(dtype);
  if (rate == cores.macs_per_pe.end()) {
    throw std::invalid_argument("tensor cores do not support " + std::string(name_of(dtype)));
  }
  if (tile.m <= 0 || tile.n <= 0 || tile.k <= 0) return {};
  TileCycles best;
  for (std::int64_t along_n = cores.arrays; along_n >= 1; --along_n) {
    if (cores.arrays % along_n != 0) continue;
    const TileShape share{ceil_div(tile.m, cores.arrays / along_n), ceil_div(tile.n, along_n), tile.k};
    const TileCycles cycles = one_array(cores, rate->second, share);
    if (best.total == Cycles(0) || cycles.total < best.total) best = cycles;
  }
  const double per_cycle = static_cast<double>(cores.arrays * cores.rows * cores.cols) * rate->second;
  const auto macs = static_cast<double>(checked_product(tile.m, tile.n, tile.k));
  best.ideal = Cycles(static_cast<std::int64_t>(std::ceil(macs / per_cycle)));
  best.quantisation = best.total - best.fill_drain - best.ideal;
  return best;
}

Bytes tile_local_traffic(const TensorCores& cores, DataType dtype, const TileShape& tile) {
  const ArrayAccesses words = array_accesses(cores, tile);
  return size_of(dtype) * (words.a_reads + words.b_reads) + kPartialSum * (words.c_writes + words.c_reads);
}

}  // namespace tandem
