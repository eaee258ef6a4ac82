// SPDX-License-Identifier: Apache-2.0
// What a tensor core shows to the folder of tile loops, and how it is moved on.
#include "sim/chip/tensor_core.h"
#include "sim/kernel/timed_queue.h"

namespace tandem::sim {

Loop TensorCore::loop() const {
  return assignment_.source == nullptr ? Loop{} : assignment_.source->loop(assignment_.index);
}

std::uint64_t TensorCore::mark() const {
  if (is_idle()) return 0;
  const std::uint64_t next = booked_ > 0 ? static_cast<std::uint64_t>((tiles_.front().done.at - now()).count()) : 1;
  return next * 64 + tiles_.size() * 8 + booked_;
}

void TensorCore::record(PathRecord& record) const {
  record.number(is_idle() ? 1 : 0);
  if (is_idle()) return;
  const std::int64_t step = loop().step;
  record.path(array_.last());
  record.path(buffer_.freed());
  record.number(buffer_.used().value());
  record.number(accumulators_);
  record.number(static_cast<std::int64_t>(booked_));
  record.number(static_cast<std::int64_t>(tiles_.size()));
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    const Tile& tile = tiles_[i];
    record_job(record, tile.job, step);
    record.number(tile.stalled_since_ready ? 1 : 0);
    record.number(tile.stalled_since_ready ? 0 : tile.stalled.count());
    record.number(tile.is_loaded ? 1 : 0);
    record.path(tile.requested);
    if (tile.is_loaded) record.path(tile.loaded);
    if (i < booked_) record.path(tile.done);
  }
  record.number(has_next_ ? 1 : 0);
  if (has_next_) record_job(record, next_, step);
}

void TensorCore::record_job(PathRecord& record, const TileJob& job, std::int64_t step) {
  record.number(static_cast<std::int64_t>(job.key) - step);
  record.number(job.ready.at.count());
  record.number(job.in_loop ? 1 : 0);
  record.number(job.time.total.count());
  record.number(job.time.steady.count());
  record.number(job.time.quantisation.count());
  record.number(job.time.fill_drain.count());
  record.number(job.time.local.count());
  record.number(job.inputs.value());
  for (const BufferAccess::Part& part : job.loads) record.number(part.bytes.value());
}

void TensorCore::skip(const PathShift& shift, std::int64_t steps, std::int64_t tiles, Picoseconds busy) {
  const auto keys = static_cast<std::uint64_t>(steps);
  array_.shift(shift);
  buffer_.shift(shift);
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    Tile& tile = tiles_[i];
    tile.job.key += keys;
    if (tile.stalled_since_ready) tile.stalled += shift.at;
    shift.move(tile.requested);
    if (tile.is_loaded) shift.move(tile.loaded);
    if (i < booked_) shift.move(tile.done);
  }
  if (has_next_) next_.key += keys;
  stats_.tiles += tiles;
  stats_.busy += busy;
  assignment_.source->skip(assignment_.index, steps);
  pause();
  resume();
}

}  // namespace tandem::sim
