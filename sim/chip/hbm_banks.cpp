// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_banks.h"

#include <algorithm>

namespace tandem::sim {

HbmBanks::HbmBanks(const HbmTimes& times)
    : times_(times),
      per_group_(static_cast<std::size_t>(times.banks_per_group)),
      banks_(static_cast<std::size_t>(times.banks())),
      groups_(static_cast<std::size_t>(times.bank_groups)) {}

Picoseconds HbmBanks::activate_at(std::size_t bank) const {
  return std::max({banks_[bank].activate, activate_, group_of(bank).activate, window_[oldest_], command_});
}

Picoseconds HbmBanks::precharge_at(std::size_t bank) const { return std::max(banks_[bank].precharge, command_); }

Picoseconds HbmBanks::column_at(std::size_t bank, Access access) const {
  const Group& group = group_of(bank);
  return access == Access::read ? std::max({banks_[bank].read, read_, group.read})
                                : std::max({banks_[bank].write, write_, group.write});
}

void HbmBanks::activate(std::size_t bank, std::int64_t row, Picoseconds at) {
  Bank& b = banks_[bank];
  b.row = row;
  b.columns = 0;
  b.read = at + times_.row_to_read;
  b.write = at + times_.row_to_write;
  b.precharge = at + times_.row_active;
  b.activate = b.precharge + times_.precharge;
  activate_ = at + times_.activate_short;
  group_of(bank).activate = at + times_.activate_long;
  window_[oldest_] = at + times_.four_activates;
  oldest_ = (oldest_ + 1) % window_.size();
  command_ = at + times_.command;
}

void HbmBanks::precharge(std::size_t bank, Picoseconds at) {
  Bank& b = banks_[bank];
  b.row = kClosed;
  b.columns = 0;
  b.activate = std::max(b.activate, at + times_.precharge);
  command_ = at + times_.command;
}

void HbmBanks::auto_precharge(std::size_t bank) {
  Bank& b = banks_[bank];
  b.row = kClosed;
  b.columns = 0;
  b.activate = std::max(b.activate, b.precharge + times_.precharge);
}

void HbmBanks::columns(std::size_t bank, Access access, std::int64_t atoms, Picoseconds at) {
  Bank& b = banks_[bank];
  Group& group = group_of(bank);
  const Picoseconds last = at + times_.step() * (atoms - 1);
  // Other bank groups use the bus between columns that one group cannot give faster.
  const Picoseconds bus = at + times_.column_short * atoms;
  b.columns += atoms;
  if (access == Access::read) {
    read_ = bus;
    group.read = last + times_.step();
    write_ = std::max(write_, last + times_.read_to_write);
    b.precharge = std::max(b.precharge, last + times_.read_to_precharge);
  } else {
    const Picoseconds data_end = last + times_.write_latency + times_.burst;
    write_ = bus;
    group.write = last + times_.step();
    read_ = std::max(read_, data_end + times_.write_to_read_short);
    group.read = std::max(group.read, data_end + times_.write_to_read_long);
    b.precharge = std::max(b.precharge, data_end + times_.write_recovery);
  }
}

void HbmBanks::refresh_all(Picoseconds at) {
  Picoseconds next = at, ready = at;
  for (const Bank& b : banks_) {
    ready = std::max(ready, b.row == kClosed ? b.activate : std::max(next, b.precharge) + times_.precharge);
    if (b.row != kClosed) next = std::max(next, b.precharge) + times_.command;
  }
  for (Bank& b : banks_) {
    b.row = kClosed;
    b.columns = 0;
    b.activate = ready + times_.refresh_time;
  }
}

void HbmBanks::refresh_one(std::size_t bank, Picoseconds at) {
  Bank& b = banks_[bank];
  const Picoseconds ready = b.row == kClosed ? std::max(at, b.activate) : std::max(at, b.precharge) + times_.precharge;
  b.row = kClosed;
  b.columns = 0;
  b.activate = ready + times_.refresh_time;
}

}  // namespace tandem::sim
