// SPDX-License-Identifier: Apache-2.0
#include "workloads/answer.h"

#include <numeric>

namespace tandem {

Cause cause_of(Axis axis) {
  switch (axis) {
    case Axis::tensor:
    case Axis::context:
    case Axis::expert: return Cause::tensor_communication;
    case Axis::pipeline: return Cause::pipeline_communication;
    case Axis::data:
    case Axis::expert_data:
    case Axis::embedding: break;
  }
  return Cause::data_communication;
}

TimeByCause& TimeByCause::operator+=(const TimeByCause& other) {
  for (std::size_t i = 0; i < kCauses; ++i) part[i] += other.part[i];
  return *this;
}

TimeByCause TimeByCause::times(std::int64_t n) const {
  TimeByCause product;
  for (std::size_t i = 0; i < kCauses; ++i) product.part[i] = Picoseconds(checked_product(part[i].count(), n));
  return product;
}

Picoseconds TimeByCause::total() const { return std::accumulate(part.begin(), part.end(), Picoseconds(0)); }

}  // namespace tandem
