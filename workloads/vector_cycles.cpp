// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "workloads/mapping.h"
#include "workloads/vector_work.h"

namespace tandem {

std::optional<double> row_kernel(const VectorCores& cores, OperatorKind kind, Pass pass) {
  if (pass != Pass::forward || cores.row_kernels.empty()) return std::nullopt;
  const auto found = cores.row_kernels.find(std::string(name_of(kind)));
  return found == cores.row_kernels.end() ? std::nullopt : std::optional(found->second);
}

Cycles vector_cycles(const VectorCores& cores, OperatorKind kind, Pass pass, const VectorShape& shape) {
  if (shape.rows <= 0 || shape.cols <= 0) return Cycles(0);
  const VectorWork work = vector_work(kind, pass);
  const std::int64_t vectors = ceil_div(checked_product(shape.rows, shape.cols), cores.lanes);
  double per_vector = 0;
  if (const std::optional<double> kernel = row_kernel(cores, kind, pass)) {
    per_vector = *kernel;
  } else {
    for (std::size_t op = 0; op < kVectorOps; ++op) {
      if (work.per_element[op] > 0) per_vector += work.per_element[op] / cores.throughput[op];
    }
  }
  double cycles = static_cast<double>(vectors) * per_vector;
  if (work.row_reductions > 0) {
    // A tree across the lanes that a row occupies; short rows share the lanes.
    const std::int64_t used = std::min(shape.cols, cores.lanes);
    const std::int64_t trees = ceil_div(checked_product(shape.rows, used), cores.lanes);
    const double steps = std::ceil(std::log2(static_cast<double>(used)));
    cycles += static_cast<double>(trees) * steps * work.row_reductions /
              cores.throughput[static_cast<std::size_t>(VectorOp::reduce)];
  }
  return Cycles(static_cast<std::int64_t>(std::ceil(cycles)));
}

}  // namespace tandem
