// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "search/operator_times.h"

namespace tandem {
namespace {

/// Different extents of the tiles along one dimension, and how many there are of each.
struct Extents {
  struct Entry {
    std::int64_t extent = 0, count = 0;
  };
  std::array<Entry, 4> entries{};
  std::size_t size = 0;

  void add(std::int64_t extent, std::int64_t count) {
    if (extent == 0 || count == 0) return;
    for (std::size_t i = 0; i < size; ++i) {
      if (entries[i].extent == extent) {
        entries[i].count += count;
        return;
      }
    }
    entries[size++] = {extent, count};
  }
  [[nodiscard]] const Entry* begin() const { return entries.data(); }
  [[nodiscard]] const Entry* end() const { return entries.data() + size; }
};

Extents extents(std::int64_t whole, std::int64_t block, std::int64_t tile) {
  const std::int64_t blocks = whole / block;
  const std::int64_t edge = whole % block;
  Extents result;
  result.add(tile, blocks * (block / tile) + edge / tile);
  result.add(block % tile, blocks);
  result.add(edge % tile, 1);
  return result;
}

/// Bytes over the local buffer's bandwidth, 0 if it is as fast as the arrays need.
Seconds local_time(const TensorCores& cores, Bytes traffic) {
  return cores.local_bandwidth.value() > 0 ? traffic / cores.local_bandwidth : Seconds(0);
}

}  // namespace

ComputeTime compute_time(const Chip& chip, const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  const TileShape& block = mapping.block;
  const TileShape& tile = mapping.tile;
  double steady = 0;
  double exposed = 0;
  double local = 0;
  for (const auto& m : extents(op.matmul.m, block.m, tile.m)) {
    for (const auto& n : extents(op.matmul.n, block.n, tile.n)) {
      for (const auto& k : extents(op.matmul.k, block.k, tile.k)) {
        const TileShape shape{m.extent, n.extent, k.extent};
        const auto count = static_cast<double>(m.count) * static_cast<double>(n.count) * static_cast<double>(k.count);
        const TileCycles cycles = tile_cycles(chip.tensor, op.dtype, shape);
        const Bytes traffic = tile_local_traffic(chip.tensor, op.dtype, shape);
        const Seconds time = std::max(cycles.steady / chip.tensor_clock(), local_time(chip.tensor, traffic));
        steady += count * time.count();
        exposed += count * ((cycles.fill_drain - (cycles.total - cycles.steady)) / chip.tensor_clock()).count();
        local += count * static_cast<double>(traffic.value());
      }
    }
  }
  const auto batch = static_cast<double>(op.matmul.batch) * needed_share(op, mapping);
  const std::int64_t tasks = task_count(op, mapping, cores);
  const auto waves = static_cast<double>(ceil_div(tasks, cores));
  const LoopTrips trips = loop_trips(op, mapping);
  // A task of full tiles; what stays in the core runs through all blocks of K.
  const std::int64_t visits = output_stays_in_core(op, mapping, cores) ? trips.blocks.k : 1;
  const TileShape full{std::min(tile.m, op.matmul.m), std::min(tile.n, op.matmul.n), std::min(tile.k, op.matmul.k)};
  const TileCycles one = tile_cycles(chip.tensor, op.dtype, full);
  const Seconds one_time = std::max(one.steady / chip.tensor_clock(),
                                    local_time(chip.tensor, tile_local_traffic(chip.tensor, op.dtype, full)));
  const std::int64_t run = checked_product(ceil_div(trips.tiles.k, mapping.split_k), tile.k, visits);
  const double steps = static_cast<double>(std::min(run, op.matmul.k)) / static_cast<double>(full.k);
  const double average = steady * batch / static_cast<double>(tasks);
  ComputeTime result;
  result.longest_task = std::max(Seconds(average), op.causal ? Seconds(0) : one_time * steps);
  const Seconds ends = (one.total - one.steady) / chip.tensor_clock();
  const Seconds overhead = chip.tensor.task_overhead * waves;
  result.longest_task += chip.tensor.task_overhead;
  result.total = std::max(Seconds(waves * average) + overhead, result.longest_task) + ends;
  result.fill_drain = Seconds(std::max(0.0, exposed) * batch / static_cast<double>(tasks) * waves) + ends + overhead;
  result.local = Bytes(static_cast<std::int64_t>(std::min(9e18, local * batch)));
  return result;
}

}  // namespace tandem
