// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "arch/support/quantity.h"
#include "workloads/mapping.h"

namespace tandem {

/// When each operator of a graph runs, and on which cores (those of its mapping). `order` is a topological order: an
/// operator starts when its inputs are ready and all earlier operators that share a core with it have ended.
struct OperatorSchedule {
  std::vector<std::int32_t> order;
  std::vector<Seconds> start;  ///< predicted, by operator index
  Seconds makespan{};          ///< predicted
  Seconds lower_bound{};       ///< proven: no schedule of these operators is shorter
};

}  // namespace tandem
