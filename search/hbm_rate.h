// SPDX-License-Identifier: Apache-2.0
// What HBM delivers in the long run, in closed form.
#pragma once

#include "arch/chip.h"

namespace tandem {

/// Bandwidth of long sequential transfers. Per channel: atoms follow each other at the column rate (bank groups
/// alternate), a page is as fast as rows can be opened in turn, and refresh takes its share.
/// f = A n tB / max(n tB, tRRD, tFAW / 4, tRC / banks), A = 1 - tRFC / tREFI. All-zero timings: the peak.
/// With `in_flight` bytes asked for at once, and no more than the windows of all DMA engines, a round trip bounds the
/// rate (Little's law). Leaves out: turnaround between reads and writes, bank conflicts between streams, refresh's own
/// row reopening.
Bandwidth sustained_bandwidth(const Chip& chip, double in_flight);

/// From request to first data: row opened and column read.
Seconds hbm_latency(const Hbm& hbm);

}  // namespace tandem
