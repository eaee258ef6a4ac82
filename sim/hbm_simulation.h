// SPDX-License-Identifier: Apache-2.0
// Traffic on a memory, without a chip.
#pragma once

#include "workloads/hbm_traffic.h"

namespace tandem {

struct HbmMeasurement {
  Bandwidth bandwidth{};
  Seconds read_latency{};  ///< mean over atoms, from the port to the data; 0 without reads
  Bytes read{}, written{};
  double activates_per_atom = 0;
  std::int64_t pieces = 0, decisions = 0;                 ///< from the start, not only while measured
  std::int64_t channel_activations = 0, activations = 0;  ///< runs of SystemC processes: of channels, of all
  Bytes issued{}, answered{};                             ///< from the start
};

/// Runs `warm`, then measures for `measured`. ConfigError for traffic that cannot be run.
HbmMeasurement simulate_hbm(const Hbm& hbm, const HbmTraffic& traffic, Seconds warm, Seconds measured);

}  // namespace tandem
