// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_times.h"

#include <algorithm>

namespace tandem::sim {
namespace {

Seconds given_or(Seconds value, Seconds otherwise) { return value > Seconds(0) ? value : otherwise; }

}  // namespace

HbmTimes make_hbm_times(const Hbm& hbm) {
  const HbmTiming& t = hbm.timing;
  HbmTimes times;
  const Seconds burst = hbm.atom / (hbm.bandwidth / hbm.channels());
  times.burst = std::max(to_picoseconds(burst), Picoseconds(1));
  times.command = to_picoseconds(given_or(t.tck, burst / 2));
  times.column_short = std::max(times.burst, to_picoseconds(t.tccd_s));
  times.column_long = std::max(times.column_short, to_picoseconds(t.tccd_l));
  times.row_to_read = to_picoseconds(t.trcd);
  times.row_to_write = to_picoseconds(given_or(t.trcd_wr, t.trcd));
  times.row_active = to_picoseconds(t.tras);
  times.precharge = to_picoseconds(t.trp);
  times.read_latency = to_picoseconds(t.tcl);
  times.write_latency = to_picoseconds(given_or(t.tcwl, t.tcl));
  times.activate_short = to_picoseconds(t.trrd);
  times.activate_long = to_picoseconds(given_or(t.trrd_l, t.trrd));
  times.four_activates = to_picoseconds(t.tfaw);
  times.write_to_read_long = to_picoseconds(t.twtr);
  times.write_to_read_short = to_picoseconds(given_or(t.twtr_s, t.twtr));
  times.read_to_write = to_picoseconds(t.trtw);
  times.write_recovery = to_picoseconds(t.twr);
  times.read_to_precharge = to_picoseconds(t.trtp);
  times.bank_groups = t.bank_groups;
  times.banks_per_group = t.banks_per_group;
  times.policy = hbm.controller;
  times.refresh_interval = to_picoseconds(t.trefi);
  times.refresh_time = to_picoseconds(t.trfc);
  if (hbm.controller.refresh == HbmRefresh::per_bank) {
    times.refresh_interval /= times.banks();
    times.refresh_time = to_picoseconds(given_or(t.trfc_pb, t.trfc));
  }
  return times;
}

}  // namespace tandem::sim
