// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/vector_core.h"

#include <algorithm>

namespace tandem::sim {

VectorCore::VectorCore(sc_core::sc_module_name name, const Spec& spec, Noc& noc, Tracer tracer)
    : sc_module(name), spec_(spec), noc_(noc), tracer_(tracer) {
  SC_METHOD(process);
  sensitive << due_.event() << wake_;
  dont_initialize();
}

void VectorCore::assign(const Assignment& assignment) {
  assignment_ = assignment;
  exhausted_ = false;
  buffer_.set_limits(assignment.room, assignment.depth);
  waits_ = true;
  wake();
}

void VectorCore::wake() {
  woken_delta_ = sc_core::sc_delta_count();
  // One that does not wait asks again by itself, when it has room.
  if (waits_) wake_.notify(sc_core::SC_ZERO_TIME);
}

void VectorCore::push(TileSource& source, std::int64_t index, const TileJob& job) {
  const std::size_t slot = take_slot(job);
  Work& work = slots_[slot];
  work.source = &source;
  work.index = index;
  work.pulled = false;
  load(slot);
}

void VectorCore::process() {
  ++stats_.activations;
  while (due_.due()) {
    const std::size_t slot = due_.pop();
    if (slots_[slot].is_computed) {
      finish(slot);
    } else {
      compute(slot);
    }
  }
  pull();
}

void VectorCore::pull() {
  waits_ = false;
  while (assignment_.source != nullptr && !exhausted_) {
    if (!has_next_) {
      const Pull pulled = assignment_.source->next(assignment_.index, next_);
      if (pulled == Pull::finished) exhausted_ = true;
      if (pulled == Pull::wait) {
        waits_ = true;
        // What changed in this delta cycle is seen in the next.
        if (woken_delta_ == sc_core::sc_delta_count()) wake();
      }
      if (pulled != Pull::job) return;
      has_next_ = true;
    }
    if (!buffer_.has_room(next_.inputs)) return;
    has_next_ = false;
    buffer_.acquire(next_.inputs);
    const std::size_t slot = take_slot(next_);
    Work& work = slots_[slot];
    work.source = assignment_.source;
    work.index = assignment_.index;
    work.pulled = true;
    const Path& freed = buffer_.freed();
    if (freed.op == next_.op && freed.at > next_.ready.at) {
      work.stalled = freed.at - next_.ready.at;
      work.requested = freed;
      work.path = freed;
    }
    load(slot);
  }
}

std::size_t VectorCore::take_slot(const TileJob& job) {
  std::size_t slot = slots_.size();
  if (free_.empty()) {
    slots_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Work& work = slots_[slot];
  work.job = job;
  work.is_computed = false;
  work.requested = job.ready;
  work.path = job.ready;
  work.stalled = Picoseconds(0);
  return slot;
}

void VectorCore::load(std::size_t slot) {
  const Work& work = slots_[slot];
  const TileJob& job = work.job;
  const bool loads =
      std::any_of(job.loads.begin(), job.loads.end(), [](const auto& part) { return part.bytes.value() > 0; });
  if (loads) {
    noc_.submit({Access::read, spec_.port, job.loads, work.requested, job.key, slot, this});
  } else {
    work.source->loaded(job, work.path);
    due_.push(now(), job.key, slot);
  }
}

void VectorCore::noc_answered(std::uint64_t tag, const Path& done) {
  Work& work = slots_[tag];
  work.path = done;
  work.path.relabel(Cause::noc, Cause::buffer_stall, std::min(work.stalled, done.at - work.requested.at));
  work.source->loaded(work.job, done);
  if (work.pulled) {
    // The operands of an operator's tiles arrive in the order of the answers, so the lanes can be booked at once.
    compute(static_cast<std::size_t>(tag));
  } else {
    due_.push(done.at, work.job.key, static_cast<std::size_t>(tag));
  }
}

void VectorCore::compute(std::size_t slot) {
  Work& work = slots_[slot];
  Path path = lanes_.begin(work.path);
  const Picoseconds start = path.at;
  path.add(Cause::vector_compute, work.job.vector_time);
  lanes_.end(path);
  ++stats_.tiles;
  stats_.busy += work.job.vector_time;
  tracer_.record(EventKind::vector, start, path.at, work.job.op, work.job.inputs);
  work.path = path;
  work.is_computed = true;
  due_.push(path.at, work.job.key, slot);
}

void VectorCore::finish(std::size_t slot) {
  const Work& work = slots_[slot];
  if (work.pulled) buffer_.release(work.job.inputs, work.path);
  work.source->computed(work.index, work.job, work.path);
  free_.push_back(slot);
}

}  // namespace tandem::sim
