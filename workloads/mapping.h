// SPDX-License-Identifier: Apache-2.0
// How one operator is tiled and spread over the chip; written by the mapper, read by prediction and simulation alike.
#pragma once

#include <array>
#include <cstdint>

#include "workloads/operator.h"

namespace tandem {

enum class Dim { m, n, k };

struct TileShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool operator==(const TileShape&) const = default;
};

/// Two levels: a `block` of the problem stands in the global buffer, a `tile` of it is one core's unit of work. Edge
/// blocks and tiles are smaller, never padded. Batch elements are independent blocks.
struct MatmulMapping {
  TileShape block;
  TileShape tile;
  std::array<Dim, 3> order{Dim::m, Dim::n, Dim::k};  ///< block loops, outermost first
  std::int64_t split_k = 1;   ///< cores that share one output tile, each a part of K, then reduced
  bool double_buffer = true;  ///< next block and next tile load while the present ones compute
  bool operator==(const MatmulMapping&) const = default;
};

struct VectorMapping {
  std::int64_t rows_per_tile =
      0;  ///< one core's unit of work (a fraction of a row where a row does not fit: cols_per_tile)
  std::int64_t cols_per_tile = 0;
  int reads_of_row = 1;  ///< 1 if a row stays in the local buffer between passes, else the passes of the kind
  bool operator==(const VectorMapping&) const = default;
};

/// Cores an operator may use: [first, first + count).
struct CoreRange {
  std::int64_t first = 0, count = 0;
  bool operator==(const CoreRange&) const = default;
};

struct Mapping {
  MatmulMapping matmul;  ///< matmul kinds
  VectorMapping vector;  ///< vector kinds
  CoreRange tensor_cores;
  CoreRange vector_cores;
  bool operator==(const Mapping&) const = default;
};

/// Bytes that a mapping moves between HBM and the global buffer, and between the global buffer and the cores.
/// Source: reuse by stationary operand of the loop order (Timeloop, ISPASS 2019, section VI).
struct MatmulTraffic {
  Bytes hbm_read, hbm_write;    ///< both pass the DMA
  Bytes core_read, core_write;  ///< over the NoC; with multicast a tile row or column is sent once
};
MatmulTraffic matmul_traffic(const Operator& op, const MatmulMapping& mapping);

/// Cycles of one m x n x k tile on one tensor core: folds, fill, stream, drain, by dataflow and overlap options.
/// Source: Samajdar et al., SCALE-Sim (arXiv 1811.02883), count = last index + 1; with overlap only the first fill and
/// the last drain show, and a partial fold pays its own part.
struct TileCycles {
  Cycles total{};
  Cycles ideal{};         ///< MACs / MACs per cycle, rounded up
  Cycles fill_drain{};    ///< of total: fill, preload and drain that show
  Cycles quantisation{};  ///< of total: rows and columns that stood idle; total = ideal + fill_drain + quantisation
};
TileCycles tile_cycles(const TensorCores& cores, DataType dtype, const TileShape& tile);

/// Cycles of `elements` (rows x cols) of vector work on one core, epilogues included by the caller.
Cycles vector_cycles(const VectorCores& cores, OperatorKind kind, Pass pass, const VectorShape& shape);

}  // namespace tandem
