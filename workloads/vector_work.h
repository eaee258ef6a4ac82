// SPDX-License-Identifier: Apache-2.0
// What each vector operator does to an element: one table that prediction and simulation share.
#pragma once

#include <array>

#include "arch/chip.h"
#include "workloads/operator.h"

namespace tandem {

struct VectorWork {
  /// Operations per element by class (VectorOp).
  std::array<double, kVectorOps> per_element{};
  int full_reads = 1;   ///< operands of rows x cols read once
  int full_writes = 1;  ///< operands of rows x cols written once
  /// Passes over a row: a row that fits the local buffer is read once, one that does not, this often.
  int passes = 1;
  int row_reductions = 0;  ///< reductions across lanes per row
};

VectorWork vector_work(OperatorKind kind, Pass pass);

}  // namespace tandem
