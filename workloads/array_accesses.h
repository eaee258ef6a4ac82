// SPDX-License-Identifier: Apache-2.0
// Words that pass between a core's local buffer and its arrays.
#pragma once

#include <cstdint>

#include "workloads/mapping.h"

namespace tandem {

/// Elements of each operand for one m x n x k tile.
struct ArrayAccesses {
  std::int64_t a_reads = 0, b_reads = 0;
  std::int64_t c_writes = 0;  ///< results, and partial sums that leave the arrays
  std::int64_t c_reads = 0;   ///< partial sums that come back to be added to
};

/// A streaming operand is read once per fold of the dimension it does not have, the held one once. Without accumulators
/// the partial sums of every fold over K but the last are written, and those of every fold but the first read back.
/// Source: access counts of SCALE-Sim (arXiv 1811.02883), which has no accumulators and does not read back; it counts
/// rows + cols further writes per fold for stationary outputs, which no result needs.
ArrayAccesses array_accesses(const TensorCores& cores, const TileShape& tile);

}  // namespace tandem
