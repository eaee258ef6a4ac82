// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <stdexcept>

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

/// Sum over the folds of max(stream, rows of the fold): loading the next fold, or shifting results out, takes a cycle
/// per row and shows only where it takes longer than the stream it hides behind.
std::int64_t stream_folds(const TensorCores& cores, const Folding& work, std::int64_t stream) {
  const std::int64_t whole = work.held_rows / cores.rows;
  const std::int64_t part = work.held_rows % cores.rows;
  std::int64_t column = checked_product(whole, std::max(stream, cores.rows));
  if (part != 0) column += std::max(stream, part);
  return checked_product(column, ceil_div(work.held_cols, cores.cols));
}

TileCycles one_array(const TensorCores& cores, double rate, const TileShape& tile) {
  const Folding work = folding(cores.dataflow, tile);
  const auto stream = static_cast<std::int64_t>(std::ceil(static_cast<double>(work.streamed) / rate));
  const std::int64_t folds =
      checked_product(ceil_div(work.held_rows, cores.rows), ceil_div(work.held_cols, cores.cols));
  const std::int64_t streamed = checked_product(folds, stream);
  TileCycles cycles;
  if (!cores.overlap_folds) {
    const std::int64_t fill = preload(cores.dataflow, cores.rows) + cores.rows + cores.cols - 2;
    cycles.fill_drain = Cycles(checked_product(folds, fill));
    cycles.total = Cycles(streamed) + cycles.fill_drain;
    cycles.steady = cycles.total;
    return cycles;
  }
  const auto part = [](std::int64_t extent, std::int64_t size) { return extent % size == 0 ? size : extent % size; };
  const std::int64_t first_rows = std::min(work.held_rows, cores.rows);
  const std::int64_t last_rows = part(work.held_rows, cores.rows);
  const std::int64_t last_cols = part(work.held_cols, cores.cols);
  cycles.steady = Cycles(stream_folds(cores, work, stream));
  // Set-up of the first fold shows in full instead of behind a stream; shifting out the last outputs is not counted.
  const std::int64_t lone_rows = cores.dataflow == Dataflow::output_stationary ? last_rows : first_rows;
  const std::int64_t not_hidden = std::max(stream, lone_rows) - stream;
  const std::int64_t exposed = preload(cores.dataflow, first_rows) + last_rows + last_cols - 2;
  cycles.total = cycles.steady - Cycles(not_hidden) + Cycles(exposed);
  cycles.fill_drain = cycles.total - Cycles(streamed);
  return cycles;
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
  const std::int64_t a = checked_product(tile.m, tile.k);
  const std::int64_t b = checked_product(tile.k, tile.n);
  const std::int64_t c = checked_product(tile.m, tile.n);
  std::int64_t reads = 0;
  std::int64_t results = c;
  switch (cores.dataflow) {
    case Dataflow::weight_stationary: reads = checked_product(a, ceil_div(tile.n, cores.cols)) + b; break;
    case Dataflow::input_stationary: reads = a + checked_product(b, ceil_div(tile.m, cores.cols)); break;
    case Dataflow::output_stationary:
      reads = checked_product(a, ceil_div(tile.n, cores.cols)) + checked_product(b, ceil_div(tile.m, cores.rows));
      break;
  }
  if (!cores.accumulators && cores.dataflow != Dataflow::output_stationary) {
    results =
        checked_product(c, 2 * ceil_div(tile.k, cores.rows) - 1);  // written per fold, read back but for the first
  }
  return size_of(dtype) * reads + kPartialSum * results;
}

}  // namespace tandem
