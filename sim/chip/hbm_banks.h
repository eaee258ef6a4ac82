// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/chip/hbm_times.h"
#include "sim/chip/memory_port.h"

namespace tandem::sim {

/// The banks of one channel: which rows are open, and when each command may next be given. Source of the rules: JEDEC
/// JESD235 (tRCD, tRAS, tRP, tRRD, tFAW, tCCD, tWTR, tWR, tRTP, tRFC); read to write as a bus turnaround.
class HbmBanks {
 public:
  static constexpr std::int64_t kClosed = -1;

  explicit HbmBanks(const HbmTimes& times);
  [[nodiscard]] std::int64_t open_row(std::size_t bank) const { return banks_[bank].row; }
  /// Columns since the row was opened.
  [[nodiscard]] std::int64_t columns_of_row(std::size_t bank) const { return banks_[bank].columns; }
  [[nodiscard]] Picoseconds activate_at(std::size_t bank) const;
  [[nodiscard]] Picoseconds precharge_at(std::size_t bank) const;
  [[nodiscard]] Picoseconds column_at(std::size_t bank, Access access) const;

  void activate(std::size_t bank, std::int64_t row, Picoseconds at);
  void precharge(std::size_t bank, Picoseconds at);
  /// Closed as soon as that may be, without a command of its own.
  void auto_precharge(std::size_t bank);
  /// `atoms` accesses to the open row, one after another.
  void columns(std::size_t bank, Access access, std::int64_t atoms, Picoseconds at);
  /// Closes all banks, one after another, from `at` on, and refreshes them.
  void refresh_all(Picoseconds at);
  void refresh_one(std::size_t bank, Picoseconds at);

 private:
  struct Bank {
    std::int64_t row = kClosed, columns = 0;
    Picoseconds activate{}, precharge{}, read{}, write{};  ///< earliest
  };
  struct Group {
    Picoseconds activate{}, read{}, write{};
  };

  [[nodiscard]] Group& group_of(std::size_t bank) { return groups_[bank / per_group_]; }
  [[nodiscard]] const Group& group_of(std::size_t bank) const { return groups_[bank / per_group_]; }

  HbmTimes times_;
  std::size_t per_group_;
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  Picoseconds activate_{}, read_{}, write_{}, command_{};  ///< earliest on the whole channel
  std::array<Picoseconds, 4> window_{};                    ///< ends of tFAW of the last four
  std::size_t oldest_ = 0;
};

}  // namespace tandem::sim
