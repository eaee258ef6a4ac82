// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/tensor_core.h"

#include <algorithm>

namespace tandem::sim {

TensorCore::TensorCore(sc_core::sc_module_name name, const Spec& spec, Noc& noc, Tracer tracer)
    : sc_module(name), spec_(spec), noc_(noc), tracer_(tracer) {
  SC_METHOD(process);
  sensitive << running_.event() << wake_;
  dont_initialize();
}

void TensorCore::assign(const Assignment& assignment) {
  assignment_ = assignment;
  buffer_.set_limits(assignment.room, assignment.depth);
  accumulators_ = 0;
  exhausted_ = false;
  tasks_ = 0;
  results_left_.clear();
  wake();
}

void TensorCore::wake() { wake_.notify(sc_core::SC_ZERO_TIME); }

void TensorCore::process() {
  ++stats_.activations;
  while (running_.due()) {
    const Running finished = running_.pop();
    buffer_.release(finished.job.inputs, finished.done);
    assignment_.source->computed(assignment_.index, finished.job, finished.done);
  }
  pull();
  book();
}

void TensorCore::pull() {
  while (assignment_.source != nullptr && !exhausted_) {
    if (!has_next_) {
      const Pull pulled = assignment_.source->next(assignment_.index, next_);
      if (pulled == Pull::finished) exhausted_ = true;
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
  Loading& tile = loading_.emplace_back();
  tile.job = job;
  tile.requested = job.ready;
  const Path& freed = buffer_.freed();
  if (freed.op == job.op && freed.at > job.ready.at) {
    const Picoseconds wanted =
        std::max(job.ready.at, loading_.size() > 1 ? loading_[loading_.size() - 2].loaded.at : job.ready.at);
    tile.stalled = std::max(Picoseconds(0), freed.at - wanted);
    tile.requested = freed;
  }
  if (tile.requested.at < now()) tile.requested.add(Cause::dependency, now() - tile.requested.at);
  const bool loads =
      std::any_of(job.loads.begin(), job.loads.end(), [](const auto& part) { return part.bytes.value() > 0; });
  if (!loads) {
    tile.loaded = tile.requested;
    tile.is_loaded = true;
    ++next_tag_;
    assignment_.source->loaded(tile.job, tile.loaded);
    return;
  }
  noc_.submit({Access::read, spec_.port, job.loads, tile.requested, job.key, next_tag_++, this});
}

void TensorCore::noc_answered(std::uint64_t tag, const Path& done) {
  Loading& tile = loading_[static_cast<std::size_t>(tag - first_tag_)];
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
  while (!loading_.empty() && loading_.front().is_loaded) {
    const bool starts = loading_.front().job.starts_task;
    if (starts && accumulators_ >= assignment_.accumulator_sets) return;
    if (starts) ++accumulators_;
    compute(loading_.front());
    loading_.pop_front();
    ++first_tag_;
  }
}

Path TensorCore::start_of(const Loading& tile) const {
  const bool follows = array_.used() && array_.op() == tile.job.op;
  const TileTime& time = tile.job.time;
  if (follows && array_.free_at() + time.steady >= tile.loaded.at + time.total) return array_.begin(tile.requested);
  Path loaded = tile.loaded;
  loaded.relabel(Cause::noc, Cause::buffer_stall, std::min(tile.stalled, tile.loaded.at - tile.requested.at));
  // Right behind another tile of the operator only the fill that did not find its operands in time shows.
  return follows ? loaded : array_.begin(loaded);
}

void TensorCore::compute(const Loading& tile) {
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
  running_.push(done.at, tile.job.key, {tile.job, done});
}

}  // namespace tandem::sim
