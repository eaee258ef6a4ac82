// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping.h"

#include <algorithm>
#include <cmath>

namespace tandem {

namespace {

/// How often the boundary that all rows begin on is halved below `unit`.
int halvings(const Operator& op, std::int64_t unit) {
  const std::int64_t element = size_of(op.dtype).value();
  int worst = 0;
  for (const std::int64_t extent : {op.matmul.m, op.matmul.n, op.matmul.k}) {
    if (extent <= 1) continue;  // a vector has no second row
    int count = 0;
    for (std::int64_t boundary = unit; boundary > element && checked_product(extent, element) % boundary != 0;
         boundary /= 2) {
      ++count;
    }
    worst = std::max(worst, count);
  }
  return worst;
}

}  // namespace

Frequency matmul_clock(const Chip& chip, const Operator& op) {
  const std::int64_t unit = chip.tensor.row_alignment.value();
  const std::int64_t element = size_of(op.dtype).value();
  if (unit <= element) return chip.tensor_clock();
  const double most = std::log2(static_cast<double>(unit) / static_cast<double>(element));
  return chip.tensor_clock() * std::pow(chip.tensor.misaligned, halvings(op, unit) / most);
}
namespace {

std::int64_t tiles_along(std::int64_t extent, std::int64_t block, std::int64_t tile) {
  return checked_product(extent / block, ceil_div(block, tile)) + ceil_div(extent % block, tile);
}

/// The queries x keys plane is the output's (scores), else that of A (values, and their gradients).
bool masks_output(const Operator& op) { return op.matmul.n == (op.causal_keys > 0 ? op.causal_keys : op.matmul.m); }

/// First column that no row below `row_end` needs; the diagonal of a plane that is not square is scaled to it.
std::int64_t lower_columns(std::int64_t row_end, std::int64_t rows, std::int64_t cols) {
  return std::min(cols, ceil_div(checked_product(row_end, cols), rows));
}

/// Extent, block and tile of one dimension.
struct Cut {
  std::int64_t extent = 0, block = 0, tile = 0;
};

std::int64_t all_tiles(const Cut& rows, const Cut& cols) {
  return checked_product(tiles_along(rows.extent, rows.block, rows.tile),
                         tiles_along(cols.extent, cols.block, cols.tile));
}

/// Tiles that are not wholly above the diagonal.
std::int64_t lower_tiles(const Cut& rows, const Cut& cols) {
  std::int64_t tiles = 0;
  for (std::int64_t first = 0; first < rows.extent; first += rows.block) {
    const std::int64_t end = std::min(rows.extent, first + rows.block);
    for (std::int64_t row = first; row < end; row += rows.tile) {
      const std::int64_t limit = lower_columns(std::min(end, row + rows.tile), rows.extent, cols.extent);
      tiles += tiles_along(limit, cols.block, cols.tile);
    }
  }
  return tiles;
}

Cut cut(const Operator& op, const MatmulMapping& mapping, Dim dim) {
  switch (dim) {
    case Dim::m: return {op.matmul.m, mapping.block.m, mapping.tile.m};
    case Dim::n: return {op.matmul.n, mapping.block.n, mapping.tile.n};
    case Dim::k: break;
  }
  return {op.matmul.k, mapping.block.k, mapping.tile.k};
}

Residency residency(const std::vector<Operand>& operands, std::size_t index) {
  return index < operands.size() ? operands[index].where : Residency::hbm;
}

/// What an operand takes in the global buffer of `blocks` blocks of `elements` each.
Bytes blocks_held(Residency where, Bytes element, std::int64_t elements, std::int64_t blocks,
                  const MatmulMapping& mapping) {
  if (where == Residency::core) return Bytes(0);
  const std::int64_t held = where == Residency::hbm ? std::min(blocks, blocks_at_once(mapping)) : 1;
  return element * checked_product(elements, held);
}

}  // namespace

LoopTrips loop_trips(const Operator& op, const MatmulMapping& mapping) {
  const TileShape& block = mapping.block;
  const TileShape& tile = mapping.tile;
  return {op.matmul.batch,
          {ceil_div(op.matmul.m, block.m), ceil_div(op.matmul.n, block.n), ceil_div(op.matmul.k, block.k)},
          {ceil_div(block.m, tile.m), ceil_div(block.n, tile.n), ceil_div(block.k, tile.k)}};
}

std::int64_t tasks_per_block(const Operator& op, const MatmulMapping& mapping) {
  const TileShape tiles = loop_trips(op, mapping).tiles;
  return checked_product(tiles.m, tiles.n, mapping.split_k);
}

bool output_stays_in_core(const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  const TileShape trips = loop_trips(op, mapping).blocks;
  if (trips.k == 1) return true;
  bool inside_k = false;
  for (const Dim dim : mapping.order) {
    if (inside_k && (dim == Dim::m ? trips.m : trips.n) > 1) return false;
    if (dim == Dim::k) inside_k = true;
  }
  return tasks_per_block(op, mapping) <= cores;
}

std::int64_t task_count(const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  const std::int64_t visits = output_stays_in_core(op, mapping, cores) ? 1 : loop_trips(op, mapping).blocks.k;
  const Cut rows = cut(op, mapping, Dim::m);
  const Cut cols = cut(op, mapping, Dim::n);
  const std::int64_t tiles = op.causal && masks_output(op) ? lower_tiles(rows, cols) : all_tiles(rows, cols);
  return checked_product(tiles, op.matmul.batch, mapping.split_k, visits);
}

double needed_share(const Operator& op, const MatmulMapping& mapping) {
  if (!op.causal) return 1;
  const Cut rows = cut(op, mapping, Dim::m);
  const Cut cols = cut(op, mapping, masks_output(op) ? Dim::n : Dim::k);
  return static_cast<double>(lower_tiles(rows, cols)) / static_cast<double>(all_tiles(rows, cols));
}

bool is_masked(const Operator& op, std::int64_t m0, std::int64_t n0, std::int64_t k0, const TileShape& tile) {
  if (!op.causal) return false;
  const bool output = masks_output(op);
  return (output ? n0 : k0) >= lower_columns(m0 + tile.m, op.matmul.m, output ? op.matmul.n : op.matmul.k);
}

std::int64_t blocks_at_once(const MatmulMapping& mapping) {
  return mapping.double_buffer ? std::max<std::int64_t>(1, mapping.buffers) : 1;
}

Bytes global_buffer_needed(const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  const LoopTrips trips = loop_trips(op, mapping);
  const TileShape& block = mapping.block;
  const Bytes element = size_of(op.dtype);
  const bool partial = !output_stays_in_core(op, mapping, cores) || mapping.split_k > 1;
  const auto blocks = [&](std::int64_t a, std::int64_t b) { return checked_product(trips.batch, a, b); };
  return blocks_held(residency(op.inputs, 0), element, checked_product(block.m, block.k),
                     blocks(trips.blocks.m, trips.blocks.k), mapping) +
         blocks_held(residency(op.inputs, 1), element, checked_product(block.k, block.n),
                     blocks(trips.blocks.k, trips.blocks.n), mapping) +
         blocks_held(residency(op.outputs, 0), partial ? kPartialSum : element, checked_product(block.m, block.n),
                     blocks(trips.blocks.m, trips.blocks.n), mapping);
}

Bytes local_buffer_needed(const Operator& op, const MatmulMapping& mapping) {
  const TileShape& tile = mapping.tile;
  const Bytes inputs = size_of(op.dtype) * (checked_product(tile.m, tile.k) + checked_product(tile.k, tile.n));
  return inputs * (mapping.double_buffer ? 2 : 1) + kPartialSum * checked_product(tile.m, tile.n);
}

LocalRoom local_room(const Chip& chip, const Operator& op, const MatmulMapping& mapping) {
  const TileShape& tile = mapping.tile;
  const Bytes sums = kPartialSum * checked_product(tile.m, tile.n);
  const Bytes per_k = size_of(op.dtype) * (tile.m + tile.n);
  const Bytes spare = chip.tensor.local_buffer - local_buffer_needed(op, mapping);
  // A short last k tile is worth more beside two full ones than a second set of sums.
  const Bytes short_tile = per_k * (std::min(mapping.block.k, op.matmul.k) % tile.k);
  LocalRoom room;
  room.accumulator_sets = sums + short_tile <= spare ? 2 : 1;
  room.inputs = chip.tensor.local_buffer - sums * room.accumulator_sets;
  const std::int64_t fit = room.inputs.value() / std::max<std::int64_t>(1, (per_k * tile.k).value());
  if (mapping.double_buffer) room.tiles = std::clamp<std::int64_t>(fit, 1, kMostTiles);
  return room;
}

}  // namespace tandem
