// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/matmul_lowering.h"

#include <algorithm>
#include <tuple>

#include "sim/kernel/rate.h"

namespace tandem::sim {
namespace {

constexpr std::size_t kBatch = 0, kM = 1, kN = 2, kK = 3;

std::size_t axis(Dim dim) { return dim == Dim::m ? kM : dim == Dim::n ? kN : kK; }

/// Axes that each operand's blocks are numbered by.
constexpr std::array<std::array<std::size_t, 3>, kSlots> kAxes{{{kBatch, kM, kK}, {kBatch, kK, kN}, {kBatch, kM, kN}}};

bool same_block(std::size_t slot, const std::array<std::int64_t, 4>& a, const std::array<std::int64_t, 4>& b) {
  return std::all_of(kAxes[slot].begin(), kAxes[slot].end(), [&](std::size_t i) { return a[i] == b[i]; });
}

Operand operand(const std::vector<Operand>& operands, std::size_t index) {
  return index < operands.size() ? operands[index] : Operand{};
}

}  // namespace

MatmulLowering::MatmulLowering(const Chip& chip, const Operator& op, const Mapping& mapping)
    : chip_(chip),
      op_(op),
      mapping_(mapping),
      clock_(chip.clock),
      tensor_clock_(matmul_clock(chip, op)),
      trips_(loop_trips(op, mapping.matmul)) {
  const MatmulShape& shape = op.matmul;
  stays_in_core_ = output_stays_in_core(op, mapping.matmul, mapping.tensor_cores.count);
  const Operand a = operand(op.inputs, 0);
  const Operand b = operand(op.inputs, 1);
  const Operand c = operand(op.outputs, 0);
  operand_ = {Share(a.bytes, checked_product(shape.batch, shape.m, shape.k)),
              Share(b.bytes, checked_product(shape.batch, shape.k, shape.n))};
  where_ = {a.where, b.where, c.where};
  const std::int64_t outputs = checked_product(shape.batch, shape.m, shape.n);
  Bytes extra_read{};
  Bytes extra_write{};
  for (const FusedWork& work : op.epilogue) {
    extra_read += work.extra_read;
    extra_write += work.extra_write;
  }
  output_ = Share(c.bytes, outputs);
  extra_read_ = Share(extra_read, outputs);
  extra_write_ = Share(extra_write, outputs);
  // A mask that depends on k leaves tasks as they are and shortens them.
  masks_tasks_ = op.causal && is_masked(op, 0, shape.n - 1, 0, {1, 1, 1});
  index_ = Index{0, 0, 0, 0};
  tasks_.resize(static_cast<std::size_t>(std::max<std::int64_t>(1, mapping.tensor_cores.count)));
}

std::optional<MatmulLowering::Index> MatmulLowering::following(Index index) const {
  const std::array<std::int64_t, 4> trips{trips_.batch, trips_.blocks.m, trips_.blocks.n, trips_.blocks.k};
  for (auto dim = mapping_.matmul.order.rbegin(); dim != mapping_.matmul.order.rend(); ++dim) {
    if (++index[axis(*dim)] < trips[axis(*dim)]) return index;
    index[axis(*dim)] = 0;
  }
  if (++index[kBatch] < trips[kBatch]) return index;
  return std::nullopt;
}

TileShape MatmulLowering::block_shape(const Index& index) const {
  const TileShape& block = mapping_.matmul.block;
  const MatmulShape& whole = op_.matmul;
  return {std::min(block.m, whole.m - index[kM] * block.m), std::min(block.n, whole.n - index[kN] * block.n),
          std::min(block.k, whole.k - index[kK] * block.k)};
}

std::optional<BlockPlan> MatmulLowering::next_block() {
  if (!index_) return std::nullopt;
  const std::optional<Index> next = following(*index_);
  const TileShape& block = mapping_.matmul.block;
  BlockPlan plan;
  plan.ordinal = ordinal_++;
  plan.shape = block_shape(*index_);
  plan.at = {(*index_)[kBatch], (*index_)[kM] * block.m, (*index_)[kN] * block.n, (*index_)[kK] * block.k};
  plan_operands(plan, next ? &*next : nullptr);
  plan_output(plan, next ? &*next : nullptr);
  plan_tasks(plan);
  previous_ = index_;
  index_ = next;
  return plan;
}

void MatmulLowering::plan_operands(BlockPlan& block, const Index* next) {
  const TileShape& shape = block.shape;
  const std::array<std::int64_t, 2> elements{shape.m * shape.k, shape.k * shape.n};
  for (const std::size_t slot : {std::size_t{kSlotA}, std::size_t{kSlotB}}) {
    if (where_[slot] != Residency::hbm) continue;
    block.opens[slot] = !previous_ || !same_block(slot, *previous_, *index_);
    block.closes[slot] = next == nullptr || !same_block(slot, *next, *index_);
    if (!block.opens[slot]) continue;
    block.load[slot] = operand_[slot].of(loaded_elements_[slot], elements[slot]);
    loaded_elements_[slot] += elements[slot];
  }
}

void MatmulLowering::plan_output(BlockPlan& block, const Index* next) {
  const std::int64_t k = (*index_)[kK];
  const bool first_visit = k == 0;
  const bool last_visit = k + 1 == trips_.blocks.k;
  const std::int64_t elements = block.shape.m * block.shape.n;
  const Bytes sums = kPartialSum * elements;
  block.opens[kSlotC] = !previous_ || !same_block(kSlotC, *previous_, *index_);
  block.closes[kSlotC] = next == nullptr || !same_block(kSlotC, *next, *index_);
  block.starts_tasks = !stays_in_core_ || first_visit;
  block.ends_tasks = !stays_in_core_ || last_visit;
  block.sums_in = !stays_in_core_ && !first_visit;
  block.sums_out = !last_visit;
  const bool in_hbm = where_[kSlotC] == Residency::hbm;
  if (block.opens[kSlotC] && !first_visit && in_hbm) block.load[kSlotC] += sums;
  if (block.closes[kSlotC] && !last_visit && in_hbm) block.store += sums;
  block.output_base = output_elements_;
  if (!last_visit) return;
  output_elements_ += elements;
  block.load[kSlotC] += extra_read_.of(block.output_base, elements);
  block.store += extra_write_.of(block.output_base, elements);
  if (in_hbm) block.store += output_.of(block.output_base, elements);
}

void MatmulLowering::plan_tasks(BlockPlan& block) {
  const TileShape& tile = mapping_.matmul.tile;
  const std::int64_t cols = ceil_div(block.shape.n, tile.n);
  const std::int64_t all = ceil_div(block.shape.m, tile.m) * cols * mapping_.matmul.split_k;
  block.tasks = all;
  if (masks_tasks_) {
    for (std::int64_t task = 0; task < all; ++task) {
      const Output output{task / mapping_.matmul.split_k / cols, task / mapping_.matmul.split_k % cols, 0};
      const TileShape shape = tile_shape(block, output, 0);
      if (is_masked(op_, block.at[kM] + output.row * tile.m, block.at[kN] + output.col * tile.n, 0, shape)) continue;
      block.needed.push_back(static_cast<std::int32_t>(task));
    }
    block.tasks = static_cast<std::int64_t>(block.needed.size());
  }
  block.first_task = tasks_before_;
  if (block.ends_tasks) tasks_before_ += block.tasks;
}

MatmulLowering::Output MatmulLowering::output_of(const BlockPlan& block, std::int64_t task) const {
  const std::int64_t number = masks_tasks_ ? block.needed[static_cast<std::size_t>(task)] : task;
  const std::int64_t cols = ceil_div(block.shape.n, mapping_.matmul.tile.n);
  const std::int64_t split = mapping_.matmul.split_k;
  return {number / split / cols, number / split % cols, number % split};
}

TileShape MatmulLowering::tile_shape(const BlockPlan& block, const Output& output, std::int64_t k_tile) const {
  const TileShape& tile = mapping_.matmul.tile;
  return {std::min(tile.m, block.shape.m - output.row * tile.m), std::min(tile.n, block.shape.n - output.col * tile.n),
          std::min(tile.k, block.shape.k - k_tile * tile.k)};
}

std::pair<std::int64_t, std::int64_t> MatmulLowering::k_range(const BlockPlan& block, const Output& output) const {
  const TileShape& tile = mapping_.matmul.tile;
  const std::int64_t tiles = ceil_div(block.shape.k, tile.k);
  const std::int64_t run = ceil_div(tiles, mapping_.matmul.split_k);
  const std::int64_t begin = std::min(tiles, output.part * run);
  std::int64_t end = std::min(tiles, begin + run);
  if (op_.causal && !masks_tasks_) {
    const std::int64_t m0 = block.at[kM] + output.row * tile.m;
    const std::int64_t n0 = block.at[kN] + output.col * tile.n;
    while (end > begin &&
           is_masked(op_, m0, n0, block.at[kK] + (end - 1) * tile.k, tile_shape(block, output, end - 1))) {
      --end;
    }
  }
  return {begin, end};
}

const MatmulLowering::Task& MatmulLowering::task_of(const BlockPlan& block, std::int64_t task) {
  Task& known = tasks_[static_cast<std::size_t>((block.first_task + task) % static_cast<std::int64_t>(tasks_.size()))];
  if (known.block == block.ordinal && known.task == task) return known;
  known.block = block.ordinal;
  known.task = task;
  known.output = output_of(block, task);
  std::tie(known.begin, known.end) = k_range(block, known.output);
  known.whole = block.shape.k / mapping_.matmul.tile.k;
  if (known.end - known.begin > 1) known.inner = make_step(block, known, 1);
  return known;
}

std::int64_t MatmulLowering::steps(const BlockPlan& block, std::int64_t task) {
  const Task& known = task_of(block, task);
  return std::max<std::int64_t>(1, known.end - known.begin);
}

std::int64_t MatmulLowering::loop_end(const BlockPlan& block, std::int64_t task) {
  // Keys order at most kMostSteps of a task.
  constexpr std::int64_t kMostSteps = 0xffff;
  if (chip_.noc.multicast) return 0;
  const Task& known = task_of(block, task);
  return std::min({kMostSteps, known.end - known.begin - 1, known.whole - known.begin});
}

std::array<std::int64_t, 2> MatmulLowering::shared_of(const BlockPlan& block, const Task& task,
                                                      std::int64_t k_tile) const {
  const std::int64_t at_once = std::max<std::int64_t>(1, mapping_.tensor_cores.count / mapping_.matmul.split_k);
  const std::int64_t wave = task.task / mapping_.matmul.split_k / at_once;
  const std::int64_t k_tiles = ceil_div(block.shape.k, mapping_.matmul.tile.k);
  const std::int64_t rows = ceil_div(block.shape.m, mapping_.matmul.tile.m);
  const std::int64_t cols = ceil_div(block.shape.n, mapping_.matmul.tile.n);
  return {((wave * rows + task.output.row) * k_tiles + k_tile) * 2,
          ((wave * cols + task.output.col) * k_tiles + k_tile) * 2 + 1};
}

TileStep MatmulLowering::step(const BlockPlan& block, std::int64_t task, std::int64_t step) {
  const Task& known = task_of(block, task);
  // The task's second step stands for all that follow, but for one of less depth.
  const bool inner_is_whole = known.begin + 1 < known.whole;
  if (step == 0 || !inner_is_whole || known.begin + step >= known.whole) return make_step(block, known, step);
  TileStep result = known.inner;
  if (chip_.noc.multicast) result.shared = shared_of(block, known, known.begin + step);
  return result;
}

TileStep MatmulLowering::make_step(const BlockPlan& block, const Task& task, std::int64_t step) {
  const auto& [output, begin, end] = std::tie(task.output, task.begin, task.end);
  TileStep result;
  const bool partial_first = block.sums_in && output.part == 0 && step == 0;
  const TileShape shape = tile_shape(block, output, std::min(begin + step, std::max<std::int64_t>(0, end - 1)));
  result.accumulators = kPartialSum * (shape.m * shape.n);
  if (partial_first && where_[kSlotC] != Residency::core) result.loads[kSlotC] = result.accumulators;
  if (end == begin) return result;  // a part without k tiles, or wholly masked
  const Bytes element = size_of(op_.dtype);
  const Bytes a = element * (shape.m * shape.k);
  const Bytes b = element * (shape.k * shape.n);
  result.inputs = a + b;
  if (where_[kSlotA] != Residency::core) result.loads[kSlotA] = a;
  if (where_[kSlotB] != Residency::core) result.loads[kSlotB] = b;
  if (chip_.noc.multicast) result.shared = shared_of(block, task, begin + step);
  const Timing& time = timing(shape);
  result.time = time.time;
  if (step == 0 && block.starts_tasks) {
    const Picoseconds overhead = to_picoseconds(chip_.tensor.task_overhead);
    result.time.total += overhead;
    result.time.steady += overhead;
    result.time.fill_drain += overhead;
  }
  result.local_traffic = time.local_traffic;
  result.macs = shape.m * shape.n * shape.k;
  return result;
}

TaskResult MatmulLowering::result(const BlockPlan& block, std::int64_t task) {
  const Output output = output_of(block, task);
  const TileShape shape = tile_shape(block, output, 0);
  const std::int64_t elements = shape.m * shape.n;
  const bool to_buffer = where_[kSlotC] != Residency::core;
  TaskResult result;
  result.output_tile = output.row * ceil_div(block.shape.n, mapping_.matmul.tile.n) + output.col;
  result.is_last_part = output.part + 1 == mapping_.matmul.split_k;
  if (to_buffer) result.partial = kPartialSum * elements;
  if (mapping_.matmul.split_k > 1) {
    result.reduction = vector_time(OperatorKind::residual_add, Pass::forward,
                                   {shape.m, checked_product(shape.n, mapping_.matmul.split_k - 1)});
  }
  // Elements of the output before this tile, tile rows first, so that the tiles' shares add up to the block's.
  const std::int64_t before = block.output_base + output.row * mapping_.matmul.tile.m * block.shape.n +
                              shape.m * output.col * mapping_.matmul.tile.n;
  if (stays_in_core_ || !block.sums_out) {
    result.epilogue_read = extra_read_.of(before, elements);
    result.epilogue = epilogue_time(shape);
    result.result = extra_write_.of(before, elements);
    if (to_buffer) result.result += output_.of(before, elements);
  } else {
    result.result = result.partial;
  }
  return result;
}

Picoseconds MatmulLowering::vector_time(OperatorKind kind, Pass pass, const VectorShape& shape) const {
  return clock_.time(vector_cycles(chip_.vector, kind, pass, shape));
}

Picoseconds MatmulLowering::epilogue_time(const TileShape& tile) const {
  Picoseconds time{};
  const std::int64_t outputs = checked_product(op_.matmul.batch, op_.matmul.m, op_.matmul.n);
  for (const FusedWork& work : op_.epilogue) {
    const auto cols = static_cast<Int128>(tile.n) * checked_product(work.shape.rows, work.shape.cols);
    time += vector_time(work.kind, work.pass, {tile.m, static_cast<std::int64_t>((cols + outputs - 1) / outputs)});
  }
  return time;
}

const MatmulLowering::Timing& MatmulLowering::timing(const TileShape& tile) {
  for (const Timing& known : timings_) {
    if (known.shape == tile) return known;
  }
  const TileCycles cycles = tile_cycles(chip_.tensor, op_.dtype, tile);
  Timing timing;
  timing.shape = tile;
  timing.time.total = tensor_clock_.time(cycles.total);
  timing.time.steady = tensor_clock_.time(cycles.steady);
  timing.time.fill_drain = tensor_clock_.time(cycles.fill_drain);
  timing.time.quantisation =
      std::min(tensor_clock_.time(cycles.quantisation), timing.time.total - timing.time.fill_drain);
  timing.local_traffic = tile_local_traffic(chip_.tensor, op_.dtype, tile);
  if (chip_.tensor.local_bandwidth.value() > 0) {
    timing.time.local = Rate(chip_.tensor.local_bandwidth).time(timing.local_traffic);
  }
  return timings_.emplace_back(timing);
}

}  // namespace tandem::sim
