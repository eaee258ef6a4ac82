// SPDX-License-Identifier: Apache-2.0
// How one operator is tiled and spread over the chip; written by the mapper, read by prediction and simulation alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "arch/chip.h"
#include "workloads/operator.h"

namespace tandem {

enum class Dim { m, n, k };

struct TileShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool operator==(const TileShape&) const = default;
};

/// Two levels: a `block` of the problem stands in the global buffer, a `tile` of it is one core's unit of work. Edge
/// blocks and tiles are smaller, never padded. Batch elements are independent blocks.
///
/// Order of work, the same for prediction and simulation:
/// - blocks: batch element by batch element, then the loops of `order`, outermost first;
/// - within a block, output tiles row by row (n fastest); a *task* is one output tile (of split_k parts, one part: the
///   k tiles of the block are cut into split_k runs of ceil(count / split_k)) with its k tiles in order;
/// - tasks are numbered through all blocks and dealt round robin: task i runs on core first + i % count. Blocks are no
///   barrier. Where the output stays in the cores (output_stays_in_core), the k blocks of an output block are one task
///   per tile, on one core;
/// - otherwise, and between split_k parts, partial sums (fp32, or int32 for int8) go back to the global buffer.
/// Tasks of one wave (same i / count) that need the same A or B tile share one read of the global buffer if the NoC
/// multicasts.
struct MatmulMapping {
  TileShape block;
  TileShape tile;
  std::array<Dim, 3> order{Dim::m, Dim::n, Dim::k};  ///< block loops, outermost first
  std::int64_t split_k = 1;   ///< cores that share one output tile, each a part of K, then reduced
  bool double_buffer = true;  ///< next block and next tile load while the present ones compute
  /// Blocks of one operand that may stand in the global buffer at once; 1 unless double_buffer. More than two keep the
  /// cores busy where a block has few tasks (the heads of an attention).
  std::int64_t buffers = 2;
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

/// Trips of each loop of a matmul mapping. `blocks` x block covers the problem, `tiles` x tile a full block, edges
/// included and nothing else.
struct LoopTrips {
  std::int64_t batch = 1;
  TileShape blocks;  ///< blocks of the problem along m, n, k
  TileShape tiles;   ///< tiles of a full block along m, n, k
};
LoopTrips loop_trips(const Operator& op, const MatmulMapping& mapping);

/// Output tiles (x split_k) of one full block.
std::int64_t tasks_per_block(const Operator& op, const MatmulMapping& mapping);
/// Times that a core takes up an output tile, over all blocks; a causal m x n square counts only the tiles needed.
std::int64_t task_count(const Operator& op, const MatmulMapping& mapping, std::int64_t cores);

/// The output block's partial sums never leave the cores between its k blocks: there is one k block, or k is the
/// innermost loop that turns and a block has no more tasks than there are cores.
bool output_stays_in_core(const Operator& op, const MatmulMapping& mapping, std::int64_t cores);

/// Tile [m0, m0 + m) x [n0, n0 + n) x [k0, k0 + k) of a causal operator that lies wholly above the diagonal of queries
/// and keys: no work. The plane is that of the output where n is the number of keys (scores), else that of A; where it
/// is not square the diagonal is scaled to it (a balanced part of the queries).
bool is_masked(const Operator& op, std::int64_t m0, std::int64_t n0, std::int64_t k0, const TileShape& tile);

/// Share of the tiles that is_masked leaves: 1 unless causal.
double needed_share(const Operator& op, const MatmulMapping& mapping);

/// Clock of the arrays for this operator: where an extent of its operands is no whole multiple of
/// tensor_cores.row_alignment, their rows begin off the boundaries of wide loads, and a share of the rate is left.
/// Source: NVIDIA, Matrix Multiplication Background User's Guide, "Tensor Core Requirements".
Frequency matmul_clock(const Chip& chip, const Operator& op);

/// Size of one element of partial sums: fp32, int32.
constexpr Bytes kPartialSum{4};

/// Blocks of one operand in the global buffer at once.
std::int64_t blocks_at_once(const MatmulMapping& mapping);

/// What the mapping occupies: blocks of A, B and C in the global buffer; tiles of A, B and partial sums of C in one
/// core. Of an operand's blocks as many as `buffers` (and as there are), of a core's input tiles two, if
/// double-buffered; operands that live elsewhere take none.
Bytes global_buffer_needed(const Operator& op, const MatmulMapping& mapping, std::int64_t cores);
Bytes local_buffer_needed(const Operator& op, const MatmulMapping& mapping);

/// Tiles whose operands may stand in a core at once, however small they are.
inline constexpr std::int64_t kMostTiles = 16;

/// How a core's local buffer is divided while it works on a mapping that fits: two sets of partial sums (one leaves
/// while the next task begins) if two full input tiles, or two and a short last one, still fit beside them; input tiles
/// have the rest.
struct LocalRoom {
  std::int64_t accumulator_sets = 1;
  Bytes inputs{};
  std::int64_t tiles = 1;  ///< full input tiles in it at once: one unless double-buffered, kMostTiles at most
};
LocalRoom local_room(const Chip& chip, const Operator& op, const MatmulMapping& mapping);

/// How often the loops go through all blocks of the operand that does not depend on `unrelated` (A: n, B: m, C: k):
/// once, unless that loop turns outside one of the operand's own.
std::int64_t passes_over(const Operator& op, const MatmulMapping& mapping, Dim unrelated);

/// Bytes that a mapping moves between HBM and the global buffer, and between the global buffer and the cores.
/// A block of an operand is loaded anew whenever its index changes along the loops; an operand of which the blocks are
/// the whole is read once. Operand bytes that batch elements share (Operand::bytes is below batch x block) are moved in
/// proportion.
/// Source: reuse by stationary operand of the loop order (Timeloop, ISPASS 2019, section VI).
struct MatmulTraffic {
  Bytes hbm_read, hbm_write;    ///< both pass the DMA
  Bytes core_read, core_write;  ///< reads and writes of the global buffer by the cores: a multicast tile counts once
  Bytes port_read, port_write;  ///< through the ports of all cores: a multicast tile counts for each receiver
};
/// `cores` cores at work, with the multicast of `noc`.
MatmulTraffic matmul_traffic(const Operator& op, const MatmulMapping& mapping, const Noc& noc, std::int64_t cores);
/// With multicast, and as many cores as a block has tasks: a tile row or column is sent once per block.
MatmulTraffic matmul_traffic(const Operator& op, const MatmulMapping& mapping);

/// Cycles of one m x n x k tile on one tensor core: folds, fill, stream, drain, by dataflow and overlap options. The
/// core's arrays split the tile's n and m between them in the way that takes least. With x MACs per PE and cycle an
/// array streams x times as fast.
/// Source: Samajdar et al., SCALE-Sim (arXiv 1811.02883), count = last index + 1; with overlap only the first fill and
/// the last drain show, and a partial fold pays its own part.
struct TileCycles {
  Cycles total{};
  Cycles ideal{};         ///< MACs / MACs per cycle, rounded up
  Cycles fill_drain{};    ///< of total: fill, preload and drain that show
  Cycles quantisation{};  ///< of total: rows and columns that stood idle; total = ideal + fill_drain + quantisation
  /// A tile right behind another on the same core, operands there in time: its fill hides behind the tile before. The
  /// same as total without overlap_folds. A run of tiles takes sum(steady) + (total - steady) of one of them.
  Cycles steady{};
};
TileCycles tile_cycles(const TensorCores& cores, DataType dtype, const TileShape& tile);

/// Bytes between a core's local buffer and its arrays for one tile; with partial sums of every fold over K if the
/// arrays have no accumulators. At local_bandwidth it bounds the tile's time from below.
/// Source: access counts of SCALE-Sim by dataflow.
Bytes tile_local_traffic(const TensorCores& cores, DataType dtype, const TileShape& tile);

/// Cycles of a lane per element of a kernel that gives whole rows to cores; nullopt if the chip's software has none.
std::optional<double> row_kernel(const VectorCores& cores, OperatorKind kind, Pass pass);

/// Cycles of `elements` (rows x cols) of vector work on one core, epilogues included by the caller. The lanes run over
/// the elements of all rows; a row's reductions end in log2(lanes) steps across them.
Cycles vector_cycles(const VectorCores& cores, OperatorKind kind, Pass pass, const VectorShape& shape);

}  // namespace tandem
