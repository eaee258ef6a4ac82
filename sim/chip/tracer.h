// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sim/chip_simulation.h"

namespace tandem::sim {

/// A module's line to the trace: where it writes, as which unit. Costs one comparison when off.
struct Tracer {
  TraceSink* sink = nullptr;
  std::int32_t unit = -1;
  const std::vector<std::int32_t>* operators = nullptr;  ///< trace id by position in the schedule
  Picoseconds offset{};

  void record(EventKind kind, Picoseconds start, Picoseconds end, std::int32_t op, Bytes bytes) const {
    if (sink == nullptr) return;
    const std::int32_t id = op < 0 ? -1 : (*operators)[static_cast<std::size_t>(op)];
    sink->event({start + offset, end + offset, unit, id, kind, -1, bytes});
  }
};

}  // namespace tandem::sim
