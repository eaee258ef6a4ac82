// SPDX-License-Identifier: Apache-2.0
#include "workloads/array_accesses.h"

#include <stdexcept>

namespace tandem {

ArrayAccesses array_accesses(const TensorCores& cores, const TileShape& tile) {
  if (tile.m <= 0 || tile.n <= 0 || tile.k <= 0) return {};
  const std::int64_t a = checked_product(tile.m, tile.k);
  const std::int64_t b = checked_product(tile.k, tile.n);
  const std::int64_t c = checked_product(tile.m, tile.n);
  const std::int64_t folds_of_k = cores.accumulators ? 1 : ceil_div(tile.k, cores.rows);
  const std::int64_t written = checked_product(c, folds_of_k);
  switch (cores.dataflow) {
    case Dataflow::weight_stationary:
      return {checked_product(a, ceil_div(tile.n, cores.cols)), b, written, written - c};
    case Dataflow::input_stationary: return {a, checked_product(b, ceil_div(tile.m, cores.cols)), written, written - c};
    case Dataflow::output_stationary:
      return {checked_product(a, ceil_div(tile.n, cores.cols)), checked_product(b, ceil_div(tile.m, cores.rows)), c, 0};
  }
  throw std::invalid_argument("unknown dataflow");
}

}  // namespace tandem
