// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/hbm.h"
#include "arch/support/quantity.h"

namespace tandem::sim {

/// Timings of one channel in whole picoseconds, with every default filled in.
struct HbmTimes {
  Picoseconds command{};  ///< one command follows another
  Picoseconds burst{};    ///< data of one atom at the peak rate
  Picoseconds column_short{}, column_long{};
  Picoseconds row_to_read{}, row_to_write{}, row_active{}, precharge{};
  Picoseconds read_latency{}, write_latency{};
  Picoseconds activate_short{}, activate_long{}, four_activates{};
  Picoseconds write_to_read_short{}, write_to_read_long{};  ///< from the end of the data
  Picoseconds read_to_write{};                              ///< from command to command
  Picoseconds write_recovery{}, read_to_precharge{};
  Picoseconds refresh_interval{}, refresh_time{};  ///< of all banks, or of one bank
  std::int64_t bank_groups = 1, banks_per_group = 1;
  HbmController policy{};

  [[nodiscard]] std::int64_t banks() const { return bank_groups * banks_per_group; }
  /// Between columns of one bank.
  [[nodiscard]] Picoseconds step() const { return column_long; }
};

HbmTimes make_hbm_times(const Hbm& hbm);

}  // namespace tandem::sim
