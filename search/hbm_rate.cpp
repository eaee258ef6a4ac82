// SPDX-License-Identifier: Apache-2.0
#include "search/hbm_rate.h"

#include <algorithm>

namespace tandem {

Seconds hbm_latency(const Hbm& hbm) { return hbm.timing.trp + hbm.timing.trcd + hbm.timing.tcl; }

Bandwidth sustained_bandwidth(const Chip& chip, double in_flight) {
  const Hbm& hbm = chip.hbm;
  const HbmTiming& timing = hbm.timing;
  double share = 1;
  if (hbm.atom.value() > 0 && hbm.channels() > 0) {
    const Seconds beat = hbm.atom / hbm.channel_bandwidth();
    const Seconds column = timing.bank_groups > 1 ? timing.tccd_s : timing.tccd_l;
    const double atoms = timing.page.value() > 0 ? std::max(1.0, timing.page / hbm.atom) : 1.0;
    const auto banks = static_cast<double>(std::max<std::int64_t>(1, timing.bank_groups * timing.banks_per_group));
    const Seconds data = beat * atoms;
    const Seconds rows = std::max({timing.trrd, timing.tfaw / 4, (timing.tras + timing.trp) / banks});
    share = data / std::max({data, column * atoms, timing.page.value() > 0 ? rows : Seconds(0)});
  }
  if (timing.trefi > Seconds(0)) share *= std::max(0.0, 1 - timing.trfc / timing.trefi);
  const Bandwidth memory = hbm.bandwidth * (hbm.sustained * share);
  const Seconds round_trip = hbm_latency(hbm) + chip.glb.latency;
  if (chip.dma.max_outstanding.value() <= 0 || round_trip <= Seconds(0)) return memory;
  const auto engines = static_cast<double>(std::max<std::int64_t>(1, chip.dma.engines));
  const double windows = engines * static_cast<double>(chip.dma.max_outstanding.value());
  return std::min(memory, Bandwidth(std::min(windows, std::max(in_flight, 1.0)) / round_trip.count()));
}

}  // namespace tandem
