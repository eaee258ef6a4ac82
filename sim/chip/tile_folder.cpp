// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/tile_folder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/chip/tensor_core.h"
#include "sim/kernel/timed_queue.h"

namespace tandem::sim {
namespace {

/// Longest period looked for, in tiles of the leader.
constexpr std::size_t kLongestPeriod = 16;
/// A loop with fewer steps left is not worth a look.
constexpr std::int64_t kFewestSteps = 4;
/// Tiles let pass after looks in vain, one after another: where nothing repeats, looking costs little.
constexpr std::size_t kLongestWait = 32;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 1099511628211ULL; }

}  // namespace

TileFolder::TileFolder(sc_core::sc_module_name name, std::vector<TensorCore*> cores, GlobalBuffer& buffer, Noc& noc)
    : sc_module(name), cores_(std::move(cores)), buffer_(buffer), noc_(noc) {
  SC_METHOD(process);
  sensitive << event_;
  dont_initialize();
}

void TileFolder::tile_computed(const TensorCore& core) {
  if (disturbances_ != seen_disturbances_) {
    seen_disturbances_ = disturbances_;
    leader_ = &core;
    if (looks_.empty()) {
      begin_anew();
    } else {
      look_less();
    }
  }
  if (&core != leader_ || core.loop().left() < kFewestSteps) return;
  if (wait_ > 0) {
    --wait_;
  } else {
    event_.notify(sc_core::SC_ZERO_TIME);
  }
}

void TileFolder::begin_anew() {
  looks_.clear();
  check_at_ = 0;
}

void TileFolder::process() {
  // Until the present is over.
  if (sc_core::sc_pending_activity_at_current_time()) {
    event_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  if (disturbances_ == seen_disturbances_) look();
}

std::uint64_t TileFolder::mark() const {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const TensorCore* core : cores_) hash = mix(hash, core->mark());
  return hash;
}

void TileFolder::look() {
  ++stats_.looks;
  const std::uint64_t present = mark();
  looks_.push_back({present, now()});
  const std::size_t number = looks_.size();
  if (check_at_ == number) {
    check(state());
    return;
  }
  if (check_at_ != 0) return;
  // The likely period: since when the cores were last where they are now.
  for (std::size_t period = 1; period <= kLongestPeriod && period < number; ++period) {
    if (looks_[number - 1 - period].mark != present) continue;
    candidate_ = state();
    check_at_ = number + period;
    return;
  }
}

TileFolder::State TileFolder::state() {
  State result;
  result.at = now();
  result.base = leader_->array_path();
  PathRecord record{result.base, result.relative};
  for (const TensorCore* core : cores_) {
    core->record(record);
    result.steps.push_back(core->is_idle() ? 0 : core->loop().step);
    result.busy.push_back(core->stats().busy);
    result.tiles.push_back(core->stats().tiles);
    if (!core->is_idle()) record.path(noc_.port(core->port(), Access::read).last());
  }
  record.path(buffer_.port(Access::read).last());
  result.buffer = buffer_.stats();
  result.noc = noc_.stats();
  result.next_other = next_other_event();
  return result;
}

Picoseconds TileFolder::next_other_event() {
  for (TensorCore* core : cores_) core->pause();
  const auto left = static_cast<Int128>(sc_core::sc_time_to_pending_activity().value()) + now().count();
  for (TensorCore* core : cores_) core->resume();
  return Picoseconds(static_cast<std::int64_t>(std::min<Int128>(left, std::numeric_limits<std::int64_t>::max())));
}

void TileFolder::check(const State& now) {
  check_at_ = 0;
  const Picoseconds period = now.at - candidate_.at;
  bool grows = now.base.at - candidate_.base.at == period && now.base.op == candidate_.base.op;
  for (std::size_t i = 0; i < ChipCauses::kCount; ++i) {
    grows = grows && now.base.causes.part[i] >= candidate_.base.causes.part[i];
  }
  if (!grows || now.at >= candidate_.next_other || now.relative != candidate_.relative) {
    look_less();
    return;
  }
  std::int64_t periods = (now.next_other - now.at - Picoseconds(1)) / period;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    const std::int64_t steps = now.steps[i] - candidate_.steps[i];
    if (steps > 0) periods = std::min(periods, cores_[i]->loop().left() / steps);
  }
  if (periods == 0) {
    look_less();
    return;
  }
  failures_ = 0;
  skip(candidate_, now, periods);
  begin_anew();
}

void TileFolder::look_less() {
  wait_ = std::min(kLongestWait, std::size_t{1} << std::min<std::size_t>(failures_++, 16));
  begin_anew();
}

void TileFolder::skip(const State& before, const State& now, std::int64_t periods) {
  ++stats_.folds;
  stats_.periods += periods;
  PathShift shift;
  shift.at = (now.base.at - before.base.at) * periods;
  for (std::size_t i = 0; i < ChipCauses::kCount; ++i) {
    shift.causes.part[i] = (now.base.causes.part[i] - before.base.causes.part[i]) * periods;
  }
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (cores_[i]->is_idle()) continue;
    const std::int64_t tiles = (now.tiles[i] - before.tiles[i]) * periods;
    cores_[i]->skip(shift, (now.steps[i] - before.steps[i]) * periods, tiles, (now.busy[i] - before.busy[i]) * periods);
    noc_.port(cores_[i]->port(), Access::read).shift(shift);
    stats_.tiles += tiles;
  }
  buffer_.skip(shift, (now.buffer.read - before.buffer.read) * periods,
               (now.buffer.read_busy - before.buffer.read_busy) * periods);
  noc_.skip((now.noc.to_cores - before.noc.to_cores) * periods);
}

}  // namespace tandem::sim
