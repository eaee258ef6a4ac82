// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/vector_lowering.h"

#include <algorithm>

#include "sim/kernel/rate.h"

namespace tandem::sim {
namespace {

/// A transfer of this size keeps HBM streaming between one set-up and the next.
constexpr Bytes kChunk{1024 * 1024};

struct Volume {
  Bytes hbm, core;
};

/// What moves from or to HBM, and over the NoC.
Volume volume(const std::vector<Operand>& operands) {
  Volume sum;
  for (const Operand& operand : operands) {
    if (operand.where == Residency::hbm) sum.hbm += operand.bytes;
    if (operand.where != Residency::core) sum.core += operand.bytes;
  }
  return sum;
}

}  // namespace

VectorLowering::VectorLowering(const Chip& chip, const Operator& op, const Mapping& mapping)
    : chip_(chip), op_(op), mapping_(mapping.vector), clock_(chip.clock) {
  if (mapping_.cols_per_tile <= 0) mapping_.cols_per_tile = op.vector.cols;
  mapping_.cols_per_tile = std::min(mapping_.cols_per_tile, op.vector.cols);
  mapping_.rows_per_tile = std::min(mapping_.rows_per_tile, op.vector.rows);
  tiles_across_ = ceil_div(op.vector.cols, mapping_.cols_per_tile);
  tiles_ = checked_product(ceil_div(op.vector.rows, mapping_.rows_per_tile), tiles_across_);
  const std::int64_t elements = checked_product(op.vector.rows, op.vector.cols);
  Volume in = volume(op.inputs);
  Volume out = volume(op.outputs);
  for (const FusedWork& work : op.epilogue) {
    in.hbm += work.extra_read;
    in.core += work.extra_read;
    out.hbm += work.extra_write;
    out.core += work.extra_write;
  }
  hbm_in_ = Share(in.hbm, elements);
  hbm_out_ = Share(out.hbm, elements);
  core_in_ = Share(in.core * mapping_.reads_of_row, elements);
  core_out_ = Share(out.core, elements);

  const std::int64_t cores = std::max<std::int64_t>(1, mapping.vector_cores.count);
  const std::int64_t tile_elements = mapping_.rows_per_tile * mapping_.cols_per_tile;
  const Bytes tile = hbm_in_.of(0, tile_elements) + hbm_out_.of(0, tile_elements);
  const std::int64_t for_size = ceil_div(kChunk.value(), std::max<std::int64_t>(1, tile.value()));
  const std::int64_t for_room = chip.glb.capacity.value() / 2 / std::max<std::int64_t>(1, tile.value());
  chunk_ = std::max(cores, ceil_div(for_size, cores) * cores);
  chunk_ = std::clamp<std::int64_t>(std::min(chunk_, for_room), 1, tiles_);
}

VectorShape VectorLowering::tile_shape(std::int64_t tile) const {
  const std::int64_t row = tile / tiles_across_ * mapping_.rows_per_tile;
  const std::int64_t col = tile % tiles_across_ * mapping_.cols_per_tile;
  return {std::min(mapping_.rows_per_tile, op_.vector.rows - row),
          std::min(mapping_.cols_per_tile, op_.vector.cols - col)};
}

std::int64_t VectorLowering::elements_before(std::int64_t tile) const {
  if (tile >= tiles_) return op_.vector.rows * op_.vector.cols;
  const std::int64_t row = tile / tiles_across_ * mapping_.rows_per_tile;
  const std::int64_t rows = std::min(mapping_.rows_per_tile, op_.vector.rows - row);
  return row * op_.vector.cols + rows * (tile % tiles_across_) * mapping_.cols_per_tile;
}

std::optional<BlockPlan> VectorLowering::next_block() {
  if (next_tile_ >= tiles_) return std::nullopt;
  BlockPlan plan;
  plan.ordinal = ordinal_++;
  plan.first_task = next_tile_;
  plan.tasks = std::min(chunk_, tiles_ - next_tile_);
  next_tile_ += plan.tasks;
  const std::int64_t from = elements_before(plan.first_task);
  const std::int64_t elements = elements_before(next_tile_) - from;
  plan.opens = {true, false, true};
  plan.closes = {true, false, true};
  plan.load[kSlotA] = hbm_in_.of(from, elements);
  plan.store = hbm_out_.of(from, elements);
  return plan;
}

std::int64_t VectorLowering::steps(const BlockPlan& /*block*/, std::int64_t /*task*/) { return 1; }

TileStep VectorLowering::step(const BlockPlan& block, std::int64_t task, std::int64_t /*step*/) {
  const std::int64_t tile = block.first_task + task;
  const VectorShape shape = tile_shape(tile);
  if (shape != timed_shape_) {
    timed_shape_ = shape;
    Cycles cycles = vector_cycles(chip_.vector, op_.kind, op_.pass, shape);
    for (const FusedWork& work : op_.epilogue) cycles += vector_cycles(chip_.vector, work.kind, work.pass, shape);
    timed_ = clock_.time(cycles);
  }
  const std::int64_t elements = shape.rows * shape.cols;
  TileStep step;
  step.loads[kSlotA] = core_in_.of(elements_before(tile), elements);
  step.inputs = local_buffer_needed();
  step.vector_time = timed_;
  step.local_traffic = step.loads[kSlotA] + core_out_.of(elements_before(tile), elements);
  if (chip_.vector.local_bandwidth.value() > 0) {
    step.vector_time = std::max(step.vector_time, Rate(chip_.vector.local_bandwidth).time(step.local_traffic));
  }
  return step;
}

TaskResult VectorLowering::result(const BlockPlan& block, std::int64_t task) {
  const std::int64_t tile = block.first_task + task;
  const VectorShape shape = tile_shape(tile);
  TaskResult result;
  result.result = core_out_.of(elements_before(tile), shape.rows * shape.cols);
  return result;
}

Bytes VectorLowering::global_buffer_needed() const {
  const std::int64_t elements = chunk_ * mapping_.rows_per_tile * mapping_.cols_per_tile;
  return (hbm_in_.of(0, elements) + hbm_out_.of(0, elements)) * 2;
}

Bytes VectorLowering::local_buffer_needed() const {
  const std::int64_t elements = mapping_.rows_per_tile * mapping_.cols_per_tile;
  return Bytes(core_in_.of(0, elements).value() / mapping_.reads_of_row) + core_out_.of(0, elements);
}

}  // namespace tandem::sim
