// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "workloads/mapping.h"

namespace tandem {
namespace {

std::int64_t extent(const TileShape& shape, Dim dim) {
  return dim == Dim::m ? shape.m : dim == Dim::n ? shape.n : shape.k;
}

Operand operand(const std::vector<Operand>& operands, std::size_t index) {
  return index < operands.size() ? operands[index] : Operand{};
}

/// Sends of tile rows and of tile columns of one block of `rows` x `cols` tiles, dealt row by row to `cores` at once.
struct Sends {
  std::int64_t rows = 0, cols = 0;
};
Sends multicast_sends(std::int64_t rows, std::int64_t cols, std::int64_t cores) {
  const std::int64_t tiles = checked_product(rows, cols);
  if (cores >= tiles) return {rows, cols};
  const std::int64_t waves = ceil_div(tiles, cores);
  // A wave that begins inside a tile row has that row sent once more.
  const std::int64_t aligned = (waves - 1) / (cols / std::gcd(cores, cols));
  const std::int64_t last = tiles - (waves - 1) * cores;
  return {rows + (waves - 1) - aligned, (waves - 1) * std::min(cores, cols) + std::min(last, cols)};
}

struct CoreBytes {
  double read = 0, port_read = 0;
};

/// Operand bytes that the cores take in for one block.
CoreBytes block_reads(const Operator& op, const MatmulMapping& mapping, const TileShape& block, const Noc& noc,
                      std::int64_t cores) {
  const std::int64_t rows = ceil_div(block.m, mapping.tile.m);
  const std::int64_t cols = ceil_div(block.n, mapping.tile.n);
  const std::int64_t at_once = std::max<std::int64_t>(1, cores / mapping.split_k);
  const Sends sends = noc.multicast ? multicast_sends(rows, cols, at_once) : Sends{rows * cols, rows * cols};
  const auto element = static_cast<double>(size_of(op.dtype).value());
  const double row = element * static_cast<double>(checked_product(block.m, block.k)) / static_cast<double>(rows);
  const double col = element * static_cast<double>(checked_product(block.k, block.n)) / static_cast<double>(cols);
  CoreBytes bytes;
  if (operand(op.inputs, 0).where != Residency::core) {
    bytes.read += static_cast<double>(sends.rows) * row;
    bytes.port_read += static_cast<double>(rows * cols) * row;
  }
  if (operand(op.inputs, 1).where != Residency::core) {
    bytes.read += static_cast<double>(sends.cols) * col;
    bytes.port_read += static_cast<double>(rows * cols) * col;
  }
  return bytes;
}

/// Full blocks and edge blocks, each with how many there are.
CoreBytes all_reads(const Operator& op, const MatmulMapping& mapping, const Noc& noc, std::int64_t cores) {
  const auto shapes = [](std::int64_t whole, std::int64_t block) {
    return std::array<std::pair<std::int64_t, std::int64_t>, 2>{{{block, whole / block}, {whole % block, 1}}};
  };
  CoreBytes sum;
  for (const auto& [m, m_count] : shapes(op.matmul.m, mapping.block.m)) {
    for (const auto& [n, n_count] : shapes(op.matmul.n, mapping.block.n)) {
      for (const auto& [k, k_count] : shapes(op.matmul.k, mapping.block.k)) {
        const auto count = static_cast<double>(checked_product(m_count, n_count, k_count, op.matmul.batch));
        if (m == 0 || n == 0 || k == 0 || count == 0) continue;
        const CoreBytes block = block_reads(op, mapping, {m, n, k}, noc, cores);
        sum.read += count * block.read;
        sum.port_read += count * block.port_read;
      }
    }
  }
  return sum;
}

Bytes rounded(double bytes) {
  if (bytes >= 9.2e18) throw std::overflow_error("traffic exceeds 64 bits");
  return Bytes(static_cast<std::int64_t>(bytes + 0.5));
}

}  // namespace

std::int64_t passes_over(const Operator& op, const MatmulMapping& mapping, Dim unrelated) {
  const TileShape trips = loop_trips(op, mapping).blocks;
  bool own_inside = false;
  for (auto dim = mapping.order.rbegin(); dim != mapping.order.rend(); ++dim) {
    if (*dim == unrelated) return own_inside ? extent(trips, unrelated) : 1;
    if (extent(trips, *dim) > 1) own_inside = true;
  }
  return 1;
}

MatmulTraffic matmul_traffic(const Operator& op, const MatmulMapping& mapping, const Noc& noc, std::int64_t cores) {
  const TileShape trips = loop_trips(op, mapping).blocks;
  const Bytes partial = kPartialSum * checked_product(op.matmul.batch, op.matmul.m, op.matmul.n);
  const Operand a = operand(op.inputs, 0);
  const Operand b = operand(op.inputs, 1);
  const Operand c = operand(op.outputs, 0);
  MatmulTraffic traffic{};
  if (a.where == Residency::hbm) traffic.hbm_read += a.bytes * passes_over(op, mapping, Dim::n);
  if (b.where == Residency::hbm) traffic.hbm_read += b.bytes * passes_over(op, mapping, Dim::m);
  if (c.where == Residency::hbm) {
    const std::int64_t evictions = passes_over(op, mapping, Dim::k) - 1;
    traffic.hbm_write = c.bytes + partial * evictions;
    traffic.hbm_read += partial * evictions;
  }
  const double share = needed_share(op, mapping);
  const CoreBytes reads = all_reads(op, mapping, noc, cores);
  traffic.core_read = rounded(share * reads.read);
  traffic.port_read = rounded(share * reads.port_read);
  if (c.where != Residency::core) {
    // Partial sums travel between k blocks that part with the cores, and between the parts of a split K.
    const std::int64_t visits = output_stays_in_core(op, mapping, cores) ? 1 : trips.k;
    const Bytes returned = partial * (checked_product(visits, mapping.split_k) - 1);
    traffic.core_write = c.bytes + returned;
    traffic.core_read += returned;
    traffic.port_read += returned;
    traffic.port_write = traffic.core_write;
  }
  return traffic;
}

MatmulTraffic matmul_traffic(const Operator& op, const MatmulMapping& mapping) {
  Noc noc;
  noc.multicast = true;
  return matmul_traffic(op, mapping, noc, tasks_per_block(op, mapping));
}

}  // namespace tandem
