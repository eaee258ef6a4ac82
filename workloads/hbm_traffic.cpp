// SPDX-License-Identifier: Apache-2.0
#include "workloads/hbm_traffic.h"

#include <algorithm>
#include <cmath>

#include "arch/support/error.h"

namespace tandem {
namespace {

std::uint64_t value_of(Bytes bytes) { return static_cast<std::uint64_t>(bytes.value()); }

std::uint64_t whole_atoms(const Hbm& hbm, Bytes bytes) {
  return static_cast<std::uint64_t>(ceil_div(bytes.value(), hbm.atom.value()) * hbm.atom.value());
}

void require(bool holds, const char* problem) {
  if (!holds) throw ConfigError(problem);
}

void check_memory(const Hbm& hbm) {
  require(hbm.channels() > 0 && hbm.bandwidth > Bandwidth(0) && hbm.capacity > Bytes(0), "the memory has no channels");
  require(hbm.atom > Bytes(0) && hbm.timing.page >= hbm.atom, "the memory has no rows of at least one atom");
  require(hbm.timing.page.value() % hbm.atom.value() == 0, "a row is not a multiple of an atom");
}

}  // namespace

void check_traffic(const Hbm& hbm, const HbmTraffic& traffic) {
  constexpr Bytes kMost(std::int64_t{1} << 40);
  check_memory(hbm);
  require(traffic.request > Bytes(0) && traffic.request <= kMost, "a request must have from 1 B to 1 TiB");
  for (const Bytes offset : {traffic.stride, traffic.stream_offset, traffic.destination_offset, traffic.window}) {
    require(offset >= Bytes(0) && offset <= kMost, "strides, offsets and windows go from 0 B to 1 TiB");
  }
  if (traffic.pattern == HbmPattern::strided || traffic.pattern == HbmPattern::alternate_rows) {
    require(traffic.stride > Bytes(0), "the stride is missing");
  }
  if (traffic.pattern == HbmPattern::tiles) {
    require(traffic.tile_rows > 0 && traffic.tile_rows <= (1 << 20), "a tile must have from 1 to 1048576 rows");
    require(traffic.tile_row > Bytes(0) && traffic.tile_pitch >= traffic.tile_row && traffic.tile_pitch <= kMost,
            "a tile's rows must have bytes, and a pitch of at least as many");
  }
  require(traffic.streams > 0 && traffic.streams <= 1024, "there must be from 1 to 1024 streams");
  require(traffic.writes >= 0 && traffic.writes <= 1, "the share of writes must be from 0 to 1");
  require(traffic.gap >= Seconds(0) && traffic.gap <= Seconds(1), "the gap must be from 0 s to 1 s");
  require(traffic.offered >= 0 && traffic.offered <= 1, "the offered share must be from 0 to 1");
  require(traffic.offered > 0 || traffic.window >= hbm.atom * engines_of(traffic), "the window is less than an atom");
}

std::int64_t engines_of(const HbmTraffic& traffic) {
  return traffic.pattern == HbmPattern::lockstep ? 1 : traffic.streams;
}

HbmAddressStream::HbmAddressStream(const Hbm& hbm, const HbmTraffic& traffic, std::int64_t engine)
    : traffic_(traffic),
      mapping_(hbm),
      capacity_(value_of(hbm.capacity)),
      channels_(static_cast<std::uint64_t>(hbm.channels())),
      request_(whole_atoms(hbm, traffic.request)),
      base_(value_of(traffic.stream_offset) * static_cast<std::uint64_t>(engine)),
      random_(traffic.seed + static_cast<std::uint64_t>(engine)) {
  if (traffic_.pattern == HbmPattern::tiles) request_ = whole_atoms(hbm, traffic.tile_row);
}

std::uint64_t HbmAddressStream::place(std::uint64_t position) const {
  return traffic_.one_channel ? mapping_.in_first_channel(position) : position;
}

HbmRequest HbmAddressStream::next_tile_row() {
  const std::uint64_t pitch = value_of(traffic_.tile_pitch);
  const auto rows = static_cast<std::uint64_t>(traffic_.tile_rows);
  const std::uint64_t across = std::max<std::uint64_t>(1, pitch / request_);
  const std::uint64_t tile = count_ / rows, row = count_ % rows;
  ++count_;
  const std::uint64_t address = (tile / across * rows + row) * pitch + tile % across * request_;
  return {address, {}, traffic_.writes >= 1, row + 1 == rows};
}

HbmRequest HbmAddressStream::next() {
  HbmRequest request;
  switch (traffic_.pattern) {
    case HbmPattern::sequential:
      request.address = base_ + place(position_);
      request.write = traffic_.writes >= 1;
      position_ += request_;
      break;
    case HbmPattern::strided:
      request.address = base_ + count_++ * value_of(traffic_.stride);
      request.write = traffic_.writes >= 1;
      break;
    case HbmPattern::alternate_rows: request.address = count_++ % 2 * value_of(traffic_.stride); break;
    case HbmPattern::random: {
      const std::uint64_t reachable = capacity_ / (traffic_.one_channel ? channels_ : 1) / request_;
      request.address = place(random_below(std::max<std::uint64_t>(1, reachable)) * request_);
      request.write = random_share() < traffic_.writes;
      break;
    }
    case HbmPattern::copy:
      request.write = count_++ % 2 == 1;
      request.address = place(position_);
      if (request.write) {
        request.address += value_of(traffic_.destination_offset);
        position_ += request_;
      }
      break;
    case HbmPattern::lockstep: {
      const auto streams = static_cast<std::uint64_t>(traffic_.streams);
      const std::uint64_t stream = count_++ % streams;
      request.address = position_ + stream * value_of(traffic_.stream_offset);
      request.write = traffic_.writes > 0 && stream + 1 == streams;
      if (stream + 1 == streams) position_ += request_;
      break;
    }
    case HbmPattern::tiles: request = next_tile_row(); break;
  }
  request.address %= capacity_;
  request.bytes = Bytes(static_cast<std::int64_t>(request_));
  return request;
}

double HbmAddressStream::next_interval() {
  return traffic_.arrivals == Arrivals::even ? 1.0 : -std::log(1 - random_share());
}

}  // namespace tandem
