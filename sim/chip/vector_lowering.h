// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/chip.h"
#include "sim/chip/lowering.h"
#include "workloads/mapping.h"
#include "workloads/operator.h"

namespace tandem::sim {

/// A vector operator in tiles of whole rows (or parts of one), grouped into chunks that the DMA moves as one: a tile
/// for every core at least, more while a chunk is small. Operands move in proportion to elements. A row that does not
/// stay in the local buffer is read again from the global buffer, not from HBM.
class VectorLowering : public Lowering {
 public:
  VectorLowering(const Chip& chip, const Operator& op, const Mapping& mapping);

  std::optional<BlockPlan> next_block() override;
  std::int64_t steps(const BlockPlan& block, std::int64_t task) override;
  TileStep step(const BlockPlan& block, std::int64_t task, std::int64_t step) override;
  TaskResult result(const BlockPlan& block, std::int64_t task) override;

  /// Room in the global buffer for the chunks that stand in it at once.
  [[nodiscard]] Bytes global_buffer_needed() const;
  /// Room in one core for one tile's operands and results.
  [[nodiscard]] Bytes local_buffer_needed() const;

 private:
  [[nodiscard]] VectorShape tile_shape(std::int64_t tile) const;
  /// Elements in tiles before this one.
  [[nodiscard]] std::int64_t elements_before(std::int64_t tile) const;

  const Chip& chip_;
  const Operator& op_;
  VectorMapping mapping_;
  Clock clock_;
  std::int64_t tiles_across_ = 1, tiles_ = 0, chunk_ = 1, next_tile_ = 0, ordinal_ = 0;
  Share hbm_in_, hbm_out_, core_in_, core_out_;
  VectorShape timed_shape_;
  Picoseconds timed_{};
};

}  // namespace tandem::sim
