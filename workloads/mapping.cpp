// SPDX-License-Identifier: Apache-2.0
#include "workloads/mapping.h"

#include <algorithm>

namespace tandem {
namespace {

std::int64_t tiles_along(std::int64_t extent, std::int64_t block, std::int64_t tile) {
  return checked_product(extent / block, ceil_div(block, tile)) + ceil_div(extent % block, tile);
}

/// Tiles along n that begin below `limit`.
std::int64_t tiles_beginning_below(std::int64_t limit, std::int64_t block, std::int64_t tile) {
  return checked_product(limit / block, ceil_div(block, tile)) + ceil_div(limit % block, tile);
}

bool masks_output(const Operator& op) { return op.causal && op.matmul.m == op.matmul.n; }

/// Tiles of a square rows x cols that are not wholly above its diagonal.
std::int64_t lower_tiles(std::int64_t rows, const std::array<std::int64_t, 2>& row_block_tile,
                         const std::array<std::int64_t, 2>& col_block_tile) {
  const auto [block, tile] = row_block_tile;
  std::int64_t tiles = 0;
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t end = std::min(rows, first + block);
    for (std::int64_t row = first; row < end; row += tile) {
      tiles += tiles_beginning_below(std::min(end, row + tile), col_block_tile[0], col_block_tile[1]);
    }
  }
  return tiles;
}

std::int64_t needed_output_tiles(const Operator& op, const MatmulMapping& mapping) {
  const TileShape& block = mapping.block;
  const TileShape& tile = mapping.tile;
  if (masks_output(op)) return lower_tiles(op.matmul.m, {block.m, tile.m}, {block.n, tile.n});
  return checked_product(tiles_along(op.matmul.m, block.m, tile.m), tiles_along(op.matmul.n, block.n, tile.n));
}

Bytes copies(Bytes one, bool changes, const MatmulMapping& mapping) {
  return changes && mapping.double_buffer ? one * 2 : one;
}

Residency residency(const std::vector<Operand>& operands, std::size_t index) {
  return index < operands.size() ? operands[index].where : Residency::hbm;
}

Bytes block_bytes(Residency where, Bytes element, std::int64_t rows, std::int64_t cols, bool changes,
                  const MatmulMapping& mapping) {
  if (where == Residency::core) return Bytes(0);
  return copies(element * checked_product(rows, cols), changes && where == Residency::hbm, mapping);
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
  return checked_product(needed_output_tiles(op, mapping), op.matmul.batch, mapping.split_k, visits);
}

double needed_share(const Operator& op, const MatmulMapping& mapping) {
  if (!op.causal) return 1;
  const MatmulShape& shape = op.matmul;
  const std::array<std::int64_t, 2> rows{mapping.block.m, mapping.tile.m};
  if (shape.m == shape.n) {
    const std::int64_t all = checked_product(tiles_along(shape.m, mapping.block.m, mapping.tile.m),
                                             tiles_along(shape.n, mapping.block.n, mapping.tile.n));
    return static_cast<double>(needed_output_tiles(op, mapping)) / static_cast<double>(all);
  }
  if (shape.m != shape.k) return 1;
  const std::int64_t all = checked_product(tiles_along(shape.m, mapping.block.m, mapping.tile.m),
                                           tiles_along(shape.k, mapping.block.k, mapping.tile.k));
  return static_cast<double>(lower_tiles(shape.m, rows, {mapping.block.k, mapping.tile.k})) / static_cast<double>(all);
}

bool is_masked(const Operator& op, std::int64_t m0, std::int64_t n0, std::int64_t k0, const TileShape& tile) {
  if (!op.causal) return false;
  if (masks_output(op)) return n0 >= m0 + tile.m;
  return op.matmul.m == op.matmul.k && k0 >= m0 + tile.m;
}

Bytes global_buffer_needed(const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  const LoopTrips trips = loop_trips(op, mapping);
  const TileShape& block = mapping.block;
  const Bytes element = size_of(op.dtype);
  const bool several = trips.batch > 1;
  const Bytes a = block_bytes(residency(op.inputs, 0), element, block.m, block.k,
                              several || trips.blocks.m > 1 || trips.blocks.k > 1, mapping);
  const Bytes b = block_bytes(residency(op.inputs, 1), element, block.k, block.n,
                              several || trips.blocks.k > 1 || trips.blocks.n > 1, mapping);
  const bool partial = !output_stays_in_core(op, mapping, cores) || mapping.split_k > 1;
  const Bytes c = block_bytes(residency(op.outputs, 0), partial ? kPartialSum : element, block.m, block.n,
                              several || trips.blocks.m > 1 || trips.blocks.n > 1, mapping);
  return a + b + c;
}

Bytes local_buffer_needed(const Operator& op, const MatmulMapping& mapping) {
  const TileShape& tile = mapping.tile;
  const Bytes element = size_of(op.dtype);
  return copies(element * checked_product(tile.m, tile.k), true, mapping) +
         copies(element * checked_product(tile.k, tile.n), true, mapping) +
         kPartialSum * checked_product(tile.m, tile.n);
}

}  // namespace tandem
