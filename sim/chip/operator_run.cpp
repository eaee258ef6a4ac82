// SPDX-License-Identifier: Apache-2.0
// The control side of a running operator: blocks, buffers and their transfers.
#include "sim/chip/operator_run.h"

#include <fmt/format.h>
#include <algorithm>

namespace tandem::sim {
namespace {

/// Blocks in flight beyond those that buffers allow; binds only where operands do not pass through the global buffer.
constexpr std::int64_t kWindow = 6;
constexpr int kOperatorShift = 52;
constexpr Bytes kSmallestPiece{64 * 1024};

template <typename T>
std::size_t take_slot(std::vector<T>& items, std::vector<std::size_t>& free, const T& item) {
  if (free.empty()) {
    items.push_back(item);
    return items.size() - 1;
  }
  const std::size_t slot = free.back();
  free.pop_back();
  items[slot] = item;
  return slot;
}

}  // namespace

OperatorRun::OperatorRun(const Spec& spec, std::unique_ptr<Lowering> lowering, RunResources resources)
    : spec_(spec), lowering_(std::move(lowering)), resources_(std::move(resources)), epilogue_(*this) {
  cursors_.resize(static_cast<std::size_t>(cores()));
  sums_wanted_.assign(cursors_.size(), -1);
}

std::int64_t OperatorRun::cores() const {
  return static_cast<std::int64_t>(spec_.is_matmul ? resources_.tensor_cores.size() : resources_.vector_cores.size());
}

std::uint64_t OperatorRun::key(const BlockPlan& plan, std::int64_t task, std::int64_t step) const {
  const auto number = static_cast<std::uint64_t>(plan.first_task + task) & 0xfffffffffU;
  return static_cast<std::uint64_t>(spec_.position) << kOperatorShift | number << 16U |
         (static_cast<std::uint64_t>(step) & 0xffffU);
}

void OperatorRun::post(RunEvent::Kind kind, std::int64_t block_number, std::int64_t item, const Path& path) {
  resources_.mailbox->post({kind, this, block_number, item, path});
}

void OperatorRun::handle(const RunEvent& event) {
  present_ = event.path;
  done_ = event.path;
  switch (event.kind) {
    case RunEvent::Kind::launched:
      is_launched_ = true;
      wanted_ = event.path;
      break;
    case RunEvent::Kind::load_done: {
      Block& target = block(event.block);
      target.ready = later(target.ready, event.path);
      --target.loads_left;
      advance_ready();
      break;
    }
    case RunEvent::Kind::reads_done: release_inputs(block(event.block)); break;
    case RunEvent::Kind::tile_stored:
      block(event.block).buffers[kSlotC]->stored[stored_key(event.block, event.item)] = {sc_core::sc_delta_count(),
                                                                                         event.path};
      wake_waiting_for(stored_key(event.block, event.item));
      break;
    case RunEvent::Kind::parts_stored: {
      Block& target = block(event.block);
      const Parts& parts = target.parts.at(event.item);
      push_vector_work(target, parts.task, parts.holder, event.path);
      break;
    }
    case RunEvent::Kind::stores_done: complete(block(event.block)); break;
    case RunEvent::Kind::written:
      --writes_;
      --live_[kSlotC];
      break;
  }
  issue();
  retire();
}

void OperatorRun::issue() {
  for (;;) {
    if (blocks_.empty() || blocks_.back().slots_issued == kSlots) {
      if (!generate()) return;
    }
    if (!issue_slots(blocks_.back())) return;
    advance_ready();
  }
}

bool OperatorRun::generate() {
  retire();
  if (end_block() - first_block_ >= spec_.depth + kWindow) return false;
  std::optional<BlockPlan> plan = lowering_->next_block();
  if (!plan) {
    generated_all_ = true;
    return false;
  }
  Block& fresh = blocks_.emplace_back();
  fresh.plan = std::move(*plan);
  fresh.reads_left = fresh.plan.tasks;
  fresh.stores_left = fresh.plan.ends_tasks ? fresh.plan.tasks : 0;
  return true;
}

bool OperatorRun::issue_slots(Block& target) {
  for (; target.slots_issued < kSlots; ++target.slots_issued) {
    const std::size_t slot = target.slots_issued;
    if (target.plan.opens[slot]) {
      if (live_[slot] >= spec_.depth) return false;
      ++live_[slot];
      buffers_[slot] = std::make_shared<Buffer>();
    }
    load(target, slot);
    if (buffers_[slot] == nullptr) continue;
    target.buffers[slot] = buffers_[slot];
    ++buffers_[slot]->users;
    buffers_[slot]->closed = target.plan.closes[slot];
  }
  target.ready = later(target.ready, present_);
  wanted_ = present_;
  return true;
}

void OperatorRun::load(Block& target, std::size_t slot) {
  const Bytes bytes = target.plan.load[slot];
  if (bytes.value() == 0) return;
  ++target.loads_left;
  counts_.hbm_read += bytes;
  const Picoseconds wanted = std::max(wanted_.at, last_loaded_.at);
  transfer(Access::read, bytes,
           {target.plan.ordinal, now(), std::max(Picoseconds(0), now() - wanted), false, 0, present_});
}

void OperatorRun::transfer(Access access, Bytes bytes, Load what) {
  // All engines share a transfer, so that together they keep as much in flight as they can; smaller
  // pieces would only break up the rows of HBM.
  const auto engines = static_cast<std::int64_t>(resources_.dma.size());
  what.pieces = std::clamp<std::int64_t>(bytes.value() / kSmallestPiece.value(), 1, engines);
  const std::size_t tag = take_slot(loads_, free_loads_, what);
  for (std::int64_t i = 0; i < what.pieces; ++i) {
    const Bytes piece(bytes.value() / what.pieces + (i < bytes.value() % what.pieces ? 1 : 0));
    const std::uint64_t order = static_cast<std::uint64_t>(spec_.position) << kOperatorShift | transfers_;
    resources_.dma[transfers_++ % resources_.dma.size()]->submit({access, address_, piece, present_, order, tag, this});
    address_ += static_cast<std::uint64_t>(piece.value());
  }
}

void OperatorRun::dma_answered(std::uint64_t tag, const Path& done_piece) {
  Load& pending = loads_[tag];
  pending.done = later(pending.done, done_piece);
  if (--pending.pieces > 0) return;
  const Load load = pending;
  const Path& done = load.done;
  free_loads_.push_back(static_cast<std::size_t>(tag));
  if (load.is_write) {
    post(RunEvent::Kind::written, load.block, 0, done);
    return;
  }
  // Time that more room would have hidden.
  Path path = done;
  const Picoseconds stalled = std::min(load.stalled, done.at - load.requested);
  const Picoseconds bandwidth = std::min(stalled, path.causes[Cause::hbm_bandwidth]);
  path.relabel(Cause::hbm_bandwidth, Cause::buffer_stall, bandwidth);
  path.relabel(Cause::hbm_overhead, Cause::buffer_stall, stalled - bandwidth);
  last_loaded_ = later(last_loaded_, path);
  post(RunEvent::Kind::load_done, load.block, 0, path);
}

void OperatorRun::advance_ready() {
  bool any = false;
  while (next_ready_ < end_block()) {
    Block& target = block(next_ready_);
    if (target.slots_issued < kSlots || target.loads_left > 0) break;
    target.ready = later(target.ready, last_ready_);
    target.is_ready = true;
    target.ready_delta = sc_core::sc_delta_count();
    last_ready_ = target.ready;
    ++next_ready_;
    any = true;
    if (target.plan.tasks == 0) release_inputs(target);
  }
  if (any) wake_cores();
}

void OperatorRun::wake_core(std::size_t core) {
  if (spec_.is_matmul) {
    resources_.tensor_cores[core]->wake();
  } else {
    resources_.vector_cores[core]->wake();
  }
}

void OperatorRun::wake_cores() {
  for (std::size_t core = 0; core < cursors_.size(); ++core) wake_core(core);
}

void OperatorRun::wake_waiting_for(std::int64_t stored) {
  for (std::size_t core = 0; core < sums_wanted_.size(); ++core) {
    if (sums_wanted_[core] == stored) wake_core(core);
  }
}

void OperatorRun::release_inputs(Block& target) {
  target.reads_done = true;
  for (const std::size_t slot : {std::size_t{kSlotA}, std::size_t{kSlotB}}) {
    const std::shared_ptr<Buffer>& buffer = target.buffers[slot];
    if (buffer != nullptr && --buffer->users == 0 && buffer->closed) --live_[slot];
  }
  if (target.stores_left == 0 && (!target.plan.ends_tasks || target.plan.tasks == 0)) complete(target);
}

void OperatorRun::complete(Block& target) {
  target.complete = true;
  const std::shared_ptr<Buffer>& output = target.buffers[kSlotC];
  if (output != nullptr && --output->users == 0 && output->closed) close_output(target);
}

void OperatorRun::close_output(Block& target) {
  // A buffer closes with its last block, which is also the last to complete; its plan says what goes to HBM.
  const Bytes bytes = target.plan.store;
  if (bytes.value() == 0) {
    --live_[kSlotC];
    return;
  }
  ++writes_;
  counts_.hbm_write += bytes;
  transfer(Access::write, bytes, {target.plan.ordinal, now(), Picoseconds(0), true, 0, present_});
}

void OperatorRun::retire() {
  while (!blocks_.empty() && blocks_.front().complete && blocks_.front().reads_done) {
    blocks_.pop_front();
    ++first_block_;
  }
}

std::string OperatorRun::waiting_for() const {
  if (!is_launched_) return "its launch";
  if (blocks_.empty()) return fmt::format("{} writes to HBM", writes_);
  const Block& front = blocks_.front();
  if (front.slots_issued < kSlots) {
    return fmt::format("block {}: room in the global buffer for operand {}", first_block_, "ABC"[front.slots_issued]);
  }
  if (!front.is_ready) return fmt::format("block {}: {} loads from HBM", first_block_, front.loads_left);
  return fmt::format("block {}: {} of {} tasks to load, {} results to store", first_block_, front.reads_left,
                     front.plan.tasks, front.stores_left);
}

}  // namespace tandem::sim
