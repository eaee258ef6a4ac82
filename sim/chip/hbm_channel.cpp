// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_channel.h"

#include <algorithm>

namespace tandem::sim {
namespace {

/// Writes that a controller buffers before it drains them (the write queue of DRAMsim3 and Ramulator 2 at its mark).
constexpr std::int64_t kWriteBatchAtoms = 64;

}  // namespace

HbmChannelSpec make_channel_spec(const Hbm& hbm, std::int64_t index) {
  const HbmTiming& timing = hbm.timing;
  HbmChannelSpec spec;
  spec.atom = std::max(hbm.atom, Bytes(1));
  // Accesses to one bank group are tCCD_L apart, to alternating groups tCCD_S: never faster than the peak either way.
  const Seconds column = timing.bank_groups > 1 ? timing.tccd_s : timing.tccd_l;
  const bool column_binds = spec.atom / hbm.channel_bandwidth() < column;
  spec.rate = Rate(column_binds ? spec.atom / column : hbm.channel_bandwidth());
  spec.page = timing.page;
  spec.access = to_picoseconds(timing.trp + timing.trcd + timing.tcl);
  const auto banks = static_cast<double>(std::max<std::int64_t>(1, timing.bank_groups * timing.banks_per_group));
  spec.row_interval = to_picoseconds(std::max({timing.trrd, timing.tfaw / 4, (timing.tras + timing.trp) / banks}));
  spec.write_to_read = to_picoseconds(timing.twtr);
  spec.read_to_write = to_picoseconds(timing.trtw);
  spec.batch = spec.atom * kWriteBatchAtoms;
  spec.refresh_interval = to_picoseconds(timing.trefi);
  spec.refresh_time = to_picoseconds(timing.trfc);
  spec.refresh_offset = spec.refresh_interval * (index + 1) / (hbm.channels() + 1);
  return spec;
}

HbmChannel::HbmChannel(const HbmChannelSpec& spec)
    : spec_(spec), queue_(static_cast<std::size_t>(spec.queue_depth), Picoseconds(0)) {}

Picoseconds HbmChannel::admit(Picoseconds arrival) const { return std::max(arrival, queue_[oldest_]); }

Picoseconds HbmChannel::finish(Picoseconds start, Picoseconds work) const {
  const Picoseconds period = spec_.refresh_interval;
  if (period.count() == 0 || spec_.refresh_time.count() == 0) return start + work;
  Picoseconds phase = start - spec_.refresh_offset;
  phase = phase.count() < 0 ? phase + period : phase % period;
  if (phase < spec_.refresh_time) {
    start += spec_.refresh_time - phase;
    phase = spec_.refresh_time;
  }
  const Picoseconds left = period - phase;
  if (work <= left) return start + work;
  const Picoseconds usable = period - spec_.refresh_time;
  const std::int64_t whole = (work - left) / usable;
  const Picoseconds rest = (work - left) % usable;
  return start + left + whole * period + (rest.count() > 0 ? spec_.refresh_time + rest : Picoseconds(0));
}

HbmChannel::Service HbmChannel::serve(Access access, Bytes bytes, const Path& arrival) {
  const Bytes moved = spec_.atom * ceil_div(bytes.value(), spec_.atom.value());
  const bool turn = bus_.used() && access != last_access_;
  Picoseconds turnaround{};
  if (turn) {
    turnaround = access == Access::read ? spec_.write_to_read : spec_.read_to_write;
    if (moved < spec_.batch) turnaround = turnaround * moved.value() / spec_.batch.value();
  }

  Service service;
  service.admitted = admit(arrival.at);
  // Behind another piece the row is opened while the bus is busy.
  const Picoseconds opened = arrival.at + spec_.access;
  const Picoseconds bus_ready = bus_.free_at() + turnaround;
  Path path = opened >= bus_ready ? arrival : bus_.begin(arrival);
  path.add(Cause::hbm_overhead, std::max(opened, bus_ready) - path.at);
  service.begin = path.at;
  const std::int64_t rows = spec_.page.value() > 0 ? ceil_div(moved.value(), spec_.page.value()) : 0;
  const Picoseconds data = spec_.rate.time(moved);
  const Picoseconds work = std::max(data, spec_.row_interval * rows);
  const Picoseconds end = finish(path.at, work);
  path.add(Cause::hbm_bandwidth, data);
  path.add(Cause::hbm_overhead, end - path.at);

  bus_.end(path);
  queue_[oldest_] = path.at;
  oldest_ = (oldest_ + 1) % queue_.size();
  last_access_ = access;
  (access == Access::read ? stats_.read : stats_.written) += moved;
  stats_.rows += rows;
  stats_.turnarounds += turn ? 1 : 0;
  service.done = path;
  return service;
}

}  // namespace tandem::sim
