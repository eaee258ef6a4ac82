// SPDX-License-Identifier: Apache-2.0
// What HBM delivers to a stream of requests, in closed form.
#pragma once

#include "workloads/hbm_traffic.h"

namespace tandem {

struct HbmPrediction {
  Bandwidth bandwidth{};
  Seconds read_latency{};  ///< mean over atoms
};

/// From what a sample of the addresses shows: per channel the atoms, the rows opened and the banks they lie in.
/// A channel's time is max(n tB (n tCCD_L in one bank group), a max(tRRD, tFAW / 4), a_b tRC*), with n atoms, a
/// activates, a_b those of its busiest bank, tRC* = max(tRAS, tRCD + (n / a - 1) tCCD_L + tRTP) + tRP; of the window's
/// channels the slowest counts; refresh leaves A = 1 - (tRFC + tRP + tRCD) / tREFI; reads and writes turn the bus
/// round once per write queue; the window over the unloaded latency and half of a window's time on its slowest channel
/// bounds the rate (Little's law). Open loop: the wait of an M/D/1 queue. Leaves out: order of service, queues that
/// fill with requests to one bank, the knee of latency against load. ConfigError for traffic that cannot be run.
HbmPrediction predict_hbm(const Hbm& hbm, const HbmTraffic& traffic);

}  // namespace tandem
