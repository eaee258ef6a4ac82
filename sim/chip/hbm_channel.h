// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "arch/chip.h"
#include "sim/chip/memory_port.h"
#include "sim/kernel/rate.h"

namespace tandem::sim {

/// One channel's timing in whole picoseconds.
struct HbmChannelSpec {
  Rate rate;
  Bytes atom{1};
  Bytes page{};                ///< 0: rows are not modelled
  Picoseconds access{};        ///< close a row, open another, first data: tRP + tRCD + tCL
  Picoseconds row_interval{};  ///< least time between rows: max(tRRD, tFAW / 4, (tRAS + tRP) / banks)
  Picoseconds write_to_read{}, read_to_write{};
  Bytes batch{1};  ///< the controller collects this much of one direction before it turns the bus round
  Picoseconds refresh_interval{}, refresh_time{}, refresh_offset{};
  std::int64_t queue_depth = 32;  ///< pieces of transfers accepted and not done
};

/// `index` of the chip's `hbm.channels()`: refreshes are spread evenly over the interval.
HbmChannelSpec make_channel_spec(const Hbm& hbm, std::int64_t index);

/// A channel as arithmetic over what it does next; no process of its own. Pieces are served in order of arrival; rows
/// of one piece lie in different banks, so opening the next hides behind the data of the last unless a row's data is
/// shorter than the row interval. A piece smaller than the controller's batch pays its share of a turnaround.
/// Source: JEDEC JESD235 timing parameters; refresh blocks all banks of the channel for tRFC every tREFI.
class HbmChannel {
 public:
  struct Stats {
    Bytes read, written;
    std::int64_t rows = 0, turnarounds = 0;
  };
  struct Service {
    Picoseconds admitted{}, begin{};
    Path done;
  };

  explicit HbmChannel(const HbmChannelSpec& spec);
  Service serve(Access access, Bytes bytes, const Path& arrival);
  /// Time at which `work` of the data bus ends that may begin at `start`, refresh windows left out.
  [[nodiscard]] Picoseconds finish(Picoseconds start, Picoseconds work) const;
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  [[nodiscard]] Picoseconds admit(Picoseconds arrival) const;

  HbmChannelSpec spec_;
  Server bus_;
  Access last_access_ = Access::read;
  std::vector<Picoseconds> queue_;  ///< ends of the last queue_depth pieces, a ring
  std::size_t oldest_ = 0;
  Stats stats_;
};

}  // namespace tandem::sim
