// SPDX-License-Identifier: Apache-2.0
// The data side of a running operator: tiles to the cores, results back.
#include <algorithm>
#include <optional>

#include "sim/chip/operator_run.h"

namespace tandem::sim {

Pull OperatorRun::next(std::int64_t core, TileJob& job) {
  Cursor& cursor = cursors_[static_cast<std::size_t>(core)];
  for (;;) {
    if (cursor.block < first_block_) cursor = {first_block_, -1, 0};
    if (cursor.block >= end_block()) return generated_all_ ? Pull::finished : Pull::wait;
    Block& source = block(cursor.block);
    const BlockPlan& plan = source.plan;
    if (cursor.task < 0) {
      const std::int64_t first = plan.first_task % cores();
      cursor.task = core >= first ? core - first : core - first + cores();
    }
    if (cursor.task >= plan.tasks) {
      cursor = {cursor.block + 1, -1, 0};
      continue;
    }
    // What changed in this delta cycle is seen in the next, whichever process the kernel runs first.
    if (!source.is_ready || source.ready_delta >= sc_core::sc_delta_count()) return Pull::wait;
    const std::optional<Path> ready = ready_since(core, source, cursor);
    if (!ready) return Pull::wait;
    job = make_job(source, cursor);
    job.ready = *ready;
    return Pull::job;
  }
}

std::optional<Path> OperatorRun::ready_since(std::int64_t core, const Block& source, const Cursor& cursor) {
  const BlockPlan& plan = source.plan;
  // Sums that stayed in the global buffer come from the block before.
  if (!plan.sums_in || plan.opens[kSlotC] || cursor.step > 0 || cursor.task % spec_.split_k != 0) return source.ready;
  const std::int64_t tile = lowering_->result(plan, cursor.task).output_tile;
  const auto& stored = source.buffers[kSlotC]->stored;
  const std::int64_t wanted = stored_key(plan.ordinal - 1, tile);
  const auto found = stored.find(wanted);
  const bool is_new = found != stored.end() && found->second.first >= sc_core::sc_delta_count();
  sums_wanted_[static_cast<std::size_t>(core)] = found == stored.end() ? wanted : -1;
  if (is_new) wake_core(static_cast<std::size_t>(core));
  if (found == stored.end() || is_new) return std::nullopt;
  return later(source.ready, found->second.second);
}

TileJob OperatorRun::make_job(Block& source, Cursor& cursor) {
  const BlockPlan& plan = source.plan;
  const std::int64_t steps = lowering_->steps(plan, cursor.task);
  const TileStep step = lowering_->step(plan, cursor.task, cursor.step);
  TileJob job;
  job.op = spec_.position;
  job.key = key(plan, cursor.task, cursor.step);
  job.block = plan.ordinal;
  job.task = cursor.task;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    job.loads[slot].bytes = step.loads[slot];
    counts_.port_read += step.loads[slot];
    bool is_first = true;
    if (slot < step.shared.size() && step.shared[slot] >= 0 && step.loads[slot].value() > 0) {
      const auto [entry, inserted] = source.shared.try_emplace(step.shared[slot]);
      job.loads[slot].shared = &entry->second;
      is_first = inserted;
    }
    if (is_first) counts_.core_read += step.loads[slot];
  }
  job.inputs = step.inputs;
  job.accumulators = step.accumulators;
  job.starts_task = plan.starts_tasks && cursor.step == 0;
  job.ends_block = cursor.step + 1 == steps;
  job.ends_task = job.ends_block && plan.ends_tasks;
  job.in_loop = cursor.step > 0 && cursor.step < lowering_->loop_end(plan, cursor.task);
  job.time = step.time;
  job.vector_time = step.vector_time;
  counts_.macs += step.macs;
  counts_.vector_busy += step.vector_time;
  counts_.local += step.local_traffic;
  ++counts_.tiles;
  if (job.ends_block) {
    cursor.task += cores();
    cursor.step = 0;
  } else {
    ++cursor.step;
  }
  return job;
}

Loop OperatorRun::loop(std::int64_t core) {
  const Cursor& cursor = cursors_[static_cast<std::size_t>(core)];
  if (cursor.block < first_block_ || cursor.block >= end_block() || cursor.task < 0) return {};
  const Block& source = block(cursor.block);
  if (!source.is_ready || cursor.task >= source.plan.tasks) return {};
  return {cursor.step, lowering_->loop_end(source.plan, cursor.task)};
}

void OperatorRun::skip(std::int64_t core, std::int64_t steps) {
  if (steps == 0) return;
  Cursor& cursor = cursors_[static_cast<std::size_t>(core)];
  const TileStep each = lowering_->step(block(cursor.block).plan, cursor.task, cursor.step);
  for (const Bytes load : each.loads) {
    counts_.port_read += load * steps;
    counts_.core_read += load * steps;
  }
  counts_.macs += each.macs * steps;
  counts_.local += each.local_traffic * steps;
  counts_.tiles += steps;
  cursor.step += steps;
}

void OperatorRun::loaded(const TileJob& job, const Path& done) {
  if (!job.ends_block) return;
  Block& target = block(job.block);
  target.read = later(target.read, done);
  if (--target.reads_left == 0) post(RunEvent::Kind::reads_done, job.block, 0, target.read);
}

void OperatorRun::computed(std::int64_t core, const TileJob& job, const Path& done) {
  if (job.ends_task) finish_task(core, job, done);
}

void OperatorRun::finish_task(std::int64_t core, const TileJob& job, const Path& done) {
  Block& target = block(job.block);
  const TaskResult result = lowering_->result(target.plan, job.task);
  if (!spec_.is_matmul) {
    const std::size_t port = resources_.vector_cores[static_cast<std::size_t>(core)]->port();
    store({job.block, result.output_tile, -1, false}, port, result.result, done, job.key);
    return;
  }
  const std::size_t port = resources_.tensor_cores[static_cast<std::size_t>(core)]->port();
  if (spec_.split_k > 1 && !result.is_last_part) {
    store({job.block, result.output_tile, core, true}, port, result.partial, done, job.key);
  } else if (spec_.split_k > 1) {
    Parts& parts = target.parts.try_emplace(result.output_tile, Parts{spec_.split_k, 0, 0, {}}).first->second;
    parts.holder = core;
    parts.task = job.task;
    part_done(target, result.output_tile, done);
  } else if (result.epilogue.count() > 0 || result.epilogue_read.value() > 0) {
    push_vector_work(target, job.task, core, done);
  } else {
    store({job.block, result.output_tile, core, false}, port, result.result, done, job.key);
  }
}

void OperatorRun::part_done(Block& target, std::int64_t tile, const Path& done) {
  Parts& parts = target.parts.try_emplace(tile, Parts{spec_.split_k, 0, 0, {}}).first->second;
  parts.path = later(parts.path, done);
  if (--parts.left == 0) post(RunEvent::Kind::parts_stored, target.plan.ordinal, tile, parts.path);
}

VectorCore& OperatorRun::vector_core_for(const BlockPlan& plan, std::int64_t task) const {
  const auto number = static_cast<std::size_t>(plan.first_task + task);
  return *resources_.vector_cores[number % resources_.vector_cores.size()];
}

void OperatorRun::push_vector_work(Block& target, std::int64_t task, std::int64_t core, const Path& ready) {
  const TaskResult result = lowering_->result(target.plan, task);
  TileJob job;
  job.op = spec_.position;
  job.key = key(target.plan, task, 0);
  job.block = target.plan.ordinal;
  job.task = task;
  job.loads[kSlotA].bytes = result.epilogue_read;
  if (spec_.split_k > 1) job.loads[kSlotC].bytes = result.partial * (spec_.split_k - 1);
  for (const BufferAccess::Part& part : job.loads) {
    counts_.core_read += part.bytes;
    counts_.port_read += part.bytes;
  }
  job.vector_time = result.epilogue + result.reduction;
  counts_.vector_busy += job.vector_time;
  job.ready = ready;
  vector_core_for(target.plan, task).push(epilogue_, core, job);
}

void OperatorRun::epilogue_done(std::int64_t core, const TileJob& job, const Path& done) {
  Block& target = block(job.block);
  resources_.tensor_cores[static_cast<std::size_t>(core)]->result_left(done);
  const TaskResult result = lowering_->result(target.plan, job.task);
  store({job.block, result.output_tile, -1, false}, vector_core_for(target.plan, job.task).port(), result.result, done,
        job.key);
}

void OperatorRun::store(const Store& what, std::size_t port, Bytes bytes, const Path& path, std::uint64_t order) {
  if (bytes.value() == 0) {
    stored(what, path);
    return;
  }
  counts_.core_write += bytes;
  std::size_t tag = stores_.size();
  if (free_stores_.empty()) {
    stores_.push_back(what);
  } else {
    tag = free_stores_.back();
    free_stores_.pop_back();
    stores_[tag] = what;
  }
  NocTransfer transfer{Access::write, port, {}, path, order, tag, this};
  transfer.parts[0].bytes = bytes;
  resources_.noc->submit(transfer);
}

void OperatorRun::noc_answered(std::uint64_t tag, const Path& done) {
  const Store what = stores_[tag];
  free_stores_.push_back(static_cast<std::size_t>(tag));
  stored(what, done);
}

void OperatorRun::stored(const Store& what, const Path& done) {
  Block& target = block(what.block);
  if (what.core >= 0) resources_.tensor_cores[static_cast<std::size_t>(what.core)]->result_left(done);
  if (what.is_part) {
    part_done(target, what.tile, done);
  } else if (target.plan.sums_out) {
    post(RunEvent::Kind::tile_stored, what.block, what.tile, done);
  }
  target.stored = later(target.stored, done);
  if (--target.stores_left == 0) post(RunEvent::Kind::stores_done, what.block, 0, target.stored);
}

}  // namespace tandem::sim
