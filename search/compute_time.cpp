// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

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

/// How much longer the busiest core works than the average one because the deal favours it: tasks go round the cores in
/// rows, so where the columns of a block and the cores share a factor the same cores get the short last column (row)
/// every time. 1 if there are no short tiles.
double imbalance(const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  const TileShape block{std::min(mapping.block.m, op.matmul.m), std::min(mapping.block.n, op.matmul.n), 0};
  const std::int64_t rows = ceil_div(block.m, mapping.tile.m);
  const std::int64_t cols = ceil_div(block.n, mapping.tile.n) * mapping.split_k;
  const auto share = [](std::int64_t extent, std::int64_t tile) {
    return extent % tile == 0 ? 1.0 : static_cast<double>(extent % tile) / static_cast<double>(tile);
  };
  const double short_row = 1 - share(block.m, mapping.tile.m);
  const double short_col = 1 - share(block.n, mapping.tile.n);
  if (short_row == 0 && short_col == 0) return 1;
  // Blocks follow each other: a core's place in the next moves by the tasks of one, so cores differ only modulo `turn`.
  const std::int64_t turn = std::gcd(checked_product(rows, cols), cores);
  const std::int64_t in_turn = std::gcd(cols, turn);
  // Of the short tiles the busiest class of cores gets the fewest.
  const std::int64_t per_class = in_turn > 1 ? 0 : rows * mapping.split_k / turn;
  const auto tasks = static_cast<double>(checked_product(rows, cols));
  const double cut_cols = static_cast<double>(rows * mapping.split_k) * short_col;
  const double cut_rows = static_cast<double>(cols) * short_row;
  const auto classes = static_cast<double>(turn);
  const double busiest =
      tasks / classes - static_cast<double>(per_class) * short_col - static_cast<double>(cols / turn) * short_row;
  return std::max(1.0, busiest * classes / (tasks - cut_cols - cut_rows));
}

}  // namespace

ComputeTime compute_time(const Chip& chip, const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  const TileShape& block = mapping.block;
  const TileShape& tile = mapping.tile;
  const Frequency clock = matmul_clock(chip, op);
  double steady = 0;
  double whole = 0;
  double exposed = 0;
  double local = 0;
  for (const auto& m : extents(op.matmul.m, block.m, tile.m)) {
    for (const auto& n : extents(op.matmul.n, block.n, tile.n)) {
      for (const auto& k : extents(op.matmul.k, block.k, tile.k)) {
        const TileShape shape{m.extent, n.extent, k.extent};
        const auto count = static_cast<double>(m.count) * static_cast<double>(n.count) * static_cast<double>(k.count);
        const TileCycles cycles = tile_cycles(chip.tensor, op.dtype, shape);
        const Bytes traffic = tile_local_traffic(chip.tensor, op.dtype, shape);
        const Seconds time = std::max(cycles.steady / clock, local_time(chip.tensor, traffic));
        steady += count * time.count();
        whole += count * std::max(cycles.total / clock, local_time(chip.tensor, traffic)).count();
        exposed += count * ((cycles.fill_drain - (cycles.total - cycles.steady)) / clock).count();
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
  const Seconds one_time =
      std::max(one.steady / clock, local_time(chip.tensor, tile_local_traffic(chip.tensor, op.dtype, full)));
  const std::int64_t run = checked_product(ceil_div(trips.tiles.k, mapping.split_k), tile.k, visits);
  const double steps = static_cast<double>(std::min(run, op.matmul.k)) / static_cast<double>(full.k);
  const double average = steady * batch / static_cast<double>(tasks);
  ComputeTime result;
  result.longest_task = std::max(Seconds(average), op.causal ? Seconds(0) : one_time * steps);
  const Seconds ends = (one.total - one.steady) / clock;
  const Seconds overhead = chip.tensor.task_overhead * waves;
  result.longest_task += chip.tensor.task_overhead;
  const double dealt =
      average * static_cast<double>(tasks) / static_cast<double>(cores) * imbalance(op, mapping, cores);
  result.total = std::max(Seconds(std::max(waves * average, dealt)) + overhead, result.longest_task) + ends;
  result.fill_drain = Seconds(std::max(0.0, exposed) * batch / static_cast<double>(tasks) * waves) + ends + overhead;
  // The last output block alone: its k blocks follow each other, on few cores if it is small.
  const std::int64_t chain = visits > 1 ? 1 : trips.blocks.k;
  const auto last = [](std::int64_t all, std::int64_t part) { return all - (ceil_div(all, part) - 1) * part; };
  const std::int64_t last_tasks = checked_product(ceil_div(last(op.matmul.m, block.m), tile.m),
                                                  ceil_div(last(op.matmul.n, block.n), tile.n), mapping.split_k, chain);
  const double others = static_cast<double>(std::max<std::int64_t>(0, tasks - last_tasks)) / static_cast<double>(cores);
  result.total = std::max(result.total, Seconds(average * others) + result.longest_task * static_cast<double>(chain));
  result.occupied = Seconds(whole * batch / static_cast<double>(tasks) * waves) + overhead;
  result.local = Bytes(static_cast<std::int64_t>(std::min(9e18, local * batch)));
  return result;
}

}  // namespace tandem
