// SPDX-License-Identifier: Apache-2.0
// Chip runs that many simulations share: a slice that runs from idle on the same chip gives the same answer again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arch/chip.h"
#include "sim/chip_simulation.h"
#include "sim/simulate.h"
#include "workloads/program.h"

namespace tandem {

/// Whether two slices are the same operators, mappings and order, whatever their names.
bool same_work(const Slice& a, const Slice& b);

class SliceMemo {
 public:
  /// The run of the same work on an equal chip with the same effects switched off; null if there was none.
  [[nodiscard]] const SliceRun* find(const Chip& chip, const Ideal& ideal, const Slice& slice) const;
  void keep(const Chip& chip, const Ideal& ideal, const Slice& slice, SliceRun run);
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    Slice slice;
    SliceRun run;
  };
  std::map<std::string, std::vector<Entry>> runs_;  ///< by the chip's resolved text and the effects
};

}  // namespace tandem
