// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "arch/support/error.h"
#include "sim/chip/chip_module.h"
#include "sim/chip/vector_lowering.h"

namespace tandem::sim {
namespace {

void check_range(const Operator& op, const char* what, const CoreRange& range, std::int64_t count, bool needed) {
  if (range.first < 0 || range.count < 0 || range.first + range.count > count) {
    throw ConfigError(fmt::format("operator {}: {} cores {}..{} of {}", op.name, what, range.first,
                                  range.first + range.count, count));
  }
  if (needed && range.count == 0) throw ConfigError(fmt::format("operator {}: no {} core", op.name, what));
}

void check_room(const Operator& op, const char* buffer, Bytes needed, Bytes capacity) {
  if (needed <= capacity) return;
  throw InfeasibleError(
      fmt::format("operator {} needs {} bytes of {}, which has {}", op.name, needed.value(), buffer, capacity.value()));
}

void check_matmul(const Chip& chip, const Operator& op, const Mapping& mapping) {
  const MatmulMapping& tiling = mapping.matmul;
  if (!chip.supports(op.dtype)) {
    throw ConfigError(fmt::format("operator {}: {} has no {} tensor cores", op.name, chip.name, name_of(op.dtype)));
  }
  for (const std::int64_t size :
       {op.matmul.batch, op.matmul.m, op.matmul.n, op.matmul.k, tiling.block.m, tiling.block.n, tiling.block.k,
        tiling.tile.m, tiling.tile.n, tiling.tile.k, tiling.split_k}) {
    if (size <= 0) throw ConfigError(fmt::format("operator {}: a size or tile is {}", op.name, size));
  }
  auto order = tiling.order;
  std::sort(order.begin(), order.end());
  if (order != std::array{Dim::m, Dim::n, Dim::k}) {
    throw ConfigError(fmt::format("operator {}: loop order is no permutation of m, n, k", op.name));
  }
  check_range(op, "tensor", mapping.tensor_cores, chip.tensor.count, true);
  check_range(op, "vector", mapping.vector_cores, chip.vector.count, !op.epilogue.empty() || tiling.split_k > 1);
  check_room(op, "the global buffer", tandem::global_buffer_needed(op, tiling, mapping.tensor_cores.count),
             chip.glb.capacity);
  check_room(op, "a tensor core's local buffer", local_buffer_needed(op, tiling), chip.tensor.local_buffer);
  checked_product(op.matmul.batch, op.matmul.m, op.matmul.n, op.matmul.k, 2);
}

void check_vector(const Chip& chip, const Operator& op, const Mapping& mapping) {
  if (op.vector.rows <= 0 || op.vector.cols <= 0 || mapping.vector.rows_per_tile <= 0 ||
      mapping.vector.reads_of_row <= 0) {
    throw ConfigError(fmt::format("operator {}: a size or tile is not positive", op.name));
  }
  check_range(op, "vector", mapping.vector_cores, chip.vector.count, true);
  const VectorLowering lowering(chip, op, mapping);
  check_room(op, "the global buffer", lowering.global_buffer_needed(), chip.glb.capacity);
  check_room(op, "a vector core's local buffer", lowering.local_buffer_needed(), chip.vector.local_buffer);
}

void check_order(const Slice& slice) {
  const std::vector<std::int32_t> order = schedule_order(slice);
  std::vector<std::int32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int32_t> all(slice.graph.operators.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) throw ConfigError(fmt::format("slice {}: schedule does not name every operator once", slice.name));
  std::vector<std::size_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) position[static_cast<std::size_t>(order[i])] = i;
  for (const OperatorGraph::Edge& edge : slice.graph.edges) {
    if (position[static_cast<std::size_t>(edge.from)] < position[static_cast<std::size_t>(edge.to)]) continue;
    throw ConfigError(fmt::format("slice {}: schedule runs {} before its input", slice.name,
                                  slice.graph.operators[static_cast<std::size_t>(edge.to)].name));
  }
}

}  // namespace

std::vector<std::int32_t> schedule_order(const Slice& slice) {
  if (!slice.schedule.order.empty()) return slice.schedule.order;
  std::vector<std::int32_t> order(slice.graph.operators.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void check_slice(const Chip& chip, const Slice& slice) {
  validate(slice.graph);
  if (slice.mappings.size() != slice.graph.operators.size()) {
    throw ConfigError(fmt::format("slice {}: {} mappings for {} operators", slice.name, slice.mappings.size(),
                                  slice.graph.operators.size()));
  }
  if (chip.hbm.channels() <= 0) throw ConfigError("chip without HBM channels");
  if (chip.dma.engines <= 0) throw ConfigError("chip without DMA engines");
  check_order(slice);
  for (std::size_t i = 0; i < slice.mappings.size(); ++i) {
    const Operator& op = slice.graph.operators[i];
    if (is_matmul(op.kind)) {
      check_matmul(chip, op, slice.mappings[i]);
    } else {
      check_vector(chip, op, slice.mappings[i]);
    }
  }
}

}  // namespace tandem::sim
