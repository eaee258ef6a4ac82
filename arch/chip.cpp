// SPDX-License-Identifier: Apache-2.0
#include "arch/chip.h"

namespace tandem {

double Chip::core_macs_per_cycle(DataType type) const {
  const auto rate = tensor.macs_per_pe.find(type);
  if (rate == tensor.macs_per_pe.end()) return 0;
  return static_cast<double>(tensor.arrays * tensor.rows * tensor.cols) * rate->second;
}

FlopRate Chip::peak(DataType type) const {
  return FlopRate(2.0 * static_cast<double>(tensor.count) * core_macs_per_cycle(type) * clock.value());
}

FlopRate Chip::vector_peak() const {
  const double rate = vector.throughput[static_cast<std::size_t>(VectorOp::multiply_add)];
  return FlopRate(static_cast<double>(vector.count * vector.lanes) * rate * clock.value());
}

double Chip::ridge_point(DataType type) const { return peak(type).value() / hbm.bandwidth.value(); }

}  // namespace tandem
