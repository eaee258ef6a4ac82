// SPDX-License-Identifier: Apache-2.0
// What predict_operator and the mapper share: the times of one mapped operator by resource.
#pragma once

#include <array>
#include <cstdint>

#include "arch/area.h"
#include "arch/chip.h"
#include "workloads/answer.h"
#include "workloads/mapping.h"

namespace tandem {

/// Time by cause in seconds, indexed by Cause; rounded to picoseconds only in answers.
using CauseSeconds = std::array<double, kCauses>;

struct OperatorTimes {
  CauseSeconds part{};
  Seconds total{};
  Bytes hbm_bytes{};
  AccessCounts accesses;
  double utilisation_seconds = 0;  ///< that the needed work takes with all tensor (vector) cores at their peak
};

/// launch + first load + the slowest of (tensor cores, vector cores, HBM, NoC and global buffer, room for blocks) +
/// last store. What is not the slowest hides behind it.
OperatorTimes matmul_times(const Chip& chip, const Operator& op, const Mapping& mapping);
OperatorTimes vector_times(const Chip& chip, const Operator& op, const Mapping& mapping);
inline OperatorTimes operator_times(const Chip& chip, const Operator& op, const Mapping& mapping) {
  return is_matmul(op.kind) ? matmul_times(chip, op, mapping) : vector_times(chip, op, mapping);
}

/// Tensor cores' part of a matmul on `cores` cores: whole waves of tasks.
struct ComputeTime {
  Seconds total{};
  Seconds fill_drain{};  ///< of total
  Seconds longest_task{};
  Seconds occupied{};  ///< sum over a core's tiles of their whole time, fills that hide included
  Bytes local{};       ///< between local buffers and arrays
};
ComputeTime compute_time(const Chip& chip, const Operator& op, const MatmulMapping& mapping, std::int64_t cores);

}  // namespace tandem
