// SPDX-License-Identifier: Apache-2.0
#include "sim/hbm_simulation.h"

#include <fmt/format.h>

#include <memory>
#include <systemc>

#include "arch/support/error.h"
#include "sim/chip/hbm_traffic_source.h"
#include "sim/kernel/context.h"
#include "sim/kernel/timed_queue.h"

namespace tandem {

HbmMeasurement simulate_hbm(const Hbm& hbm, const HbmTraffic& traffic, Seconds warm, Seconds measured) {
  check_traffic(hbm, traffic);
  if (!(measured > Seconds(0)) || warm < Seconds(0) || warm + measured > Seconds(1)) {
    throw ConfigError("traffic must be measured for more than 0 s, and no longer than 1 s in all");
  }
  const SimulationContext context;
  const sim::HbmTimes times = sim::make_hbm_times(hbm);
  const Picoseconds from = to_picoseconds(warm), to = from + to_picoseconds(measured);
  sim::HbmTrafficSource source("source", {hbm, traffic, times.command, from, to});
  std::vector<std::unique_ptr<sim::HbmQueuedChannel>> channels;
  std::vector<sim::HbmQueuedChannel*> ports;
  for (std::int64_t i = 0; i < hbm.channels(); ++i) {
    channels.push_back(std::make_unique<sim::HbmQueuedChannel>(fmt::format("channel{}", i).c_str(), times, source));
    ports.push_back(channels.back().get());
  }
  source.connect(std::move(ports));
  sc_core::sc_start(sim::to_sc_time(to));

  const sim::HbmTrafficSource::Stats& stats = source.stats();
  HbmMeasurement result;
  result.read = hbm.atom * stats.read_atoms;
  result.written = hbm.atom * stats.written_atoms;
  result.bandwidth = (result.read + result.written) / measured;
  if (stats.read_atoms > 0) {
    result.read_latency = Seconds(stats.read_latency * 1e-12 / static_cast<double>(stats.read_atoms));
  }
  result.pieces = stats.pieces;
  result.issued = hbm.atom * stats.issued_atoms;
  result.answered = hbm.atom * stats.answered_atoms;
  std::int64_t activates = 0, atoms = 0;
  for (const auto& channel : channels) {
    const sim::HbmScheduler::Stats& counts = channel->scheduler().stats();
    activates += counts.activates;
    atoms += counts.read_atoms + counts.write_atoms;
    result.decisions += counts.decisions;
    result.channel_activations += channel->activations();
  }
  result.activations = result.channel_activations + stats.activations;
  if (atoms > 0) result.activates_per_atom = static_cast<double>(activates) / static_cast<double>(atoms);
  return result;
}

}  // namespace tandem
