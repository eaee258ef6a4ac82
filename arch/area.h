// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/chip.h"
#include "arch/technology.h"

namespace tandem {

/// Silicon area of a chip by component (square micrometres).
struct ChipArea {
  Area tensor_cores, vector_cores, local_buffers, global_buffer, noc, hbm, links, other;
  [[nodiscard]] Area total() const;
};

/// Closed-form area. `links`: chip-to-chip links of the chip.
/// Source: the component sum of PHAZE (arXiv 2407.13143) with a NoC, HBM and link term added.
ChipArea estimate_area(const Chip& chip, const Technology& technology, std::int64_t links = 0);

/// Bytes and operations that an operator, or a whole run, moved through each component of one chip.
struct AccessCounts {
  std::int64_t macs = 0;
  std::int64_t vector_operations = 0;
  Bytes local{}, global{}, noc{}, hbm{}, link{};
};

struct ChipEnergy {
  Energy tensor_cores, vector_cores, local_buffers, global_buffer, noc, hbm, links, leakage;
  [[nodiscard]] Energy total() const;
};

/// Energy of `counts` over `time` (leakage).
ChipEnergy estimate_energy(const AccessCounts& counts, DataType dtype, const Technology& technology, Area area,
                           Seconds time);

/// Power at full tensor-core and HBM rate: an upper bound to hold against a TDP.
Power estimate_peak_power(const Chip& chip, const Technology& technology, DataType dtype);

}  // namespace tandem
