// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/tensor_core.h"

#include <algorithm>

#include "sim/kernel/timed_queue.h"

namespace tandem::sim {

TensorCore::TensorCore(sc_core::sc_module_name name, const Spec& spec, Noc& noc, Tracer tracer)
    : sc_module(name), spec_(spec), noc_(noc), tracer_(tracer) {
  SC_METHOD(process);
  sensitive << run_;
  dont_initialize();
}

void TensorCore::assign(const Assignment& assignment) {
  assignment_ = assignment;
  buffer_.set_limits(assignment.room, assignment.depth);
  accumulators_ = 0;
  exhausted_ = false;
  tasks_ = 0;
  results_left_.clear();
  waits_ = true;
  wake();
}

void TensorCore::wake() {
  woken_delta_ = sc_core::sc_delta_count();
  // One that does not wait asks again by itself, when it has room.
  if (waits_) run_.notify(sc_core::SC_ZERO_TIME);
}

bool TensorCore::due() const {
  return booked_ > 0 && tiles_.front().done.at <= now() && tiles_.front().done_delta <= sc_core::sc_delta_count();
}

void TensorCore::schedule() {
  if (booked_ > 0) run_.notify(to_sc_time(std::max(tiles_.front().done.at - now(), Picoseconds(0))));
}

void TensorCore::process() {
  ++stats_.activations;
  while (due()) {
    const Tile& finished = tiles_.front();
    if (folder_ != nullptr) {
      if (finished.job.in_loop) {
        folder_->tile_computed(*this);
      } else {
        folder_->disturb();
      }
    }
    buffer_.release(finished.job.inputs, finished.done);
    assignment_.source->computed(assignment_.index, finished.job, finished.done);
    tiles_.pop_front();
    ++first_tag_;
    --booked_;
  }
  schedule();
  pull();
  book();
}

void TensorCore::pull() {
  waits_ = false;
  while (assignment_.source != nullptr && !exhausted_) {
    if (!has_next_) {
      const Pull pulled = assignment_.source->next(assignment_.index, next_);
      if (pulled != Pull::job || !next_.in_loop) disturb();
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
    request(next_);
  }
}

void TensorCore::request(const TileJob& job) {
  const bool is_next = tiles_.size() > booked_;
  const Picoseconds before = is_next ? tiles_.back().loaded.at : job.ready.at;
  const std::uint64_t tag = first_tag_ + tiles_.size();
  Tile& tile = tiles_.push_back();
  tile.job = job;
  tile.requested = job.ready;
  tile.stalled = Picoseconds(0);
  tile.stalled_since_ready = false;
  tile.loaded = Path();
  tile.is_loaded = false;
  const Path& freed = buffer_.freed();
  if (freed.op == job.op && freed.at > job.ready.at) {
    tile.stalled = std::max(Picoseconds(0), freed.at - std::max(job.ready.at, before));
    tile.stalled_since_ready = before <= job.ready.at;
    tile.requested = freed;
  } else {
    disturb();
  }
  if (tile.requested.at < now()) tile.requested.add(Cause::dependency, now() - tile.requested.at);
  const bool loads =
      std::any_of(job.loads.begin(), job.loads.end(), [](const auto& part) { return part.bytes.value() > 0; });
  if (!loads) {
    tile.loaded = tile.requested;
    tile.is_loaded = true;
    assignment_.source->loaded(tile.job, tile.loaded);
    return;
  }
  noc_.submit({Access::read, spec_.port, job.loads, tile.requested, job.key, tag, this});
}

void TensorCore::noc_answered(std::uint64_t tag, const Path& done) {
  Tile& tile = tiles_[static_cast<std::size_t>(tag - first_tag_)];
  tile.loaded = done;
  tile.is_loaded = true;
  assignment_.source->loaded(tile.job, done);
  book();
}

void TensorCore::result_left(const Path& at) {
  --accumulators_;
  results_left_.push_back(at);
  book();
}

void TensorCore::book() {
  while (booked_ < tiles_.size() && tiles_[booked_].is_loaded) {
    const bool starts = tiles_[booked_].job.starts_task;
    if (starts && accumulators_ >= assignment_.accumulator_sets) return;
    if (starts) ++accumulators_;
    compute(tiles_[booked_]);
    if (++booked_ == 1) schedule();
  }
}

Path TensorCore::start_of(const Tile& tile) const {
  const bool follows = array_.used() && array_.op() == tile.job.op;
  const TileTime& time = tile.job.time;
  if (follows && array_.free_at() + time.steady >= tile.loaded.at + time.total) return array_.begin(tile.requested);
  Path loaded = tile.loaded;
  const Picoseconds waited = tile.loaded.at - tile.requested.at;
  const Picoseconds stalled = std::min(tile.stalled, waited);
  const Picoseconds moved = loaded.relabel(Cause::noc, Cause::buffer_stall, stalled);
  // Here a shift would not leave everything else as it was.
  if (moved < stalled || (tile.stalled_since_ready && stalled < waited)) disturb();
  // Right behind another tile of the operator only the fill that did not find its operands in time shows.
  return follows ? loaded : array_.begin(loaded);
}

void TensorCore::compute(Tile& tile) {
  const TileTime& time = tile.job.time;
  Path done = start_of(tile);
  const Picoseconds start = done.at;
  const bool hides = array_.used() && start == array_.free_at() && start + time.steady >= tile.loaded.at + time.total &&
                     array_.op() == tile.job.op;
  const Picoseconds hidden = hides ? time.total - time.steady : Picoseconds(0);
  const Picoseconds fill = std::max(Picoseconds(0), time.fill_drain - hidden);
  done.add(Cause::compute, time.total - hidden - fill - time.quantisation);
  done.add(Cause::tile_quantisation, time.quantisation);
  done.add(Cause::fill_drain, fill);
  if (start + time.local > done.at) done.add(Cause::buffer_stall, start + time.local - done.at);
  if (tile.job.starts_task && ++tasks_ > assignment_.accumulator_sets) {
    // The array may overwrite results only as fast as earlier ones leave.
    done = later(done, results_left_.front());
    results_left_.pop_front();
  }
  stats_.busy += done.at - std::max(start, array_.free_at());
  ++stats_.tiles;
  array_.end(done);
  tracer_.record(EventKind::compute, start, done.at, tile.job.op, tile.job.inputs);
  tile.done = done;
  tile.done_delta = done.at <= now() ? sc_core::sc_delta_count() + 1 : 0;
}

}  // namespace tandem::sim
