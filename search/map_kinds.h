// SPDX-License-Identifier: Apache-2.0
// The mapper's two halves; called by map_operator alone.
#pragma once

#include "arch/chip.h"
#include "workloads/mapping.h"

namespace tandem {

MatmulMapping map_matmul(const Chip& chip, const Operator& op, CoreRange tensor_cores, CoreRange vector_cores);
VectorMapping map_vector(const Chip& chip, const Operator& op, CoreRange vector_cores);

}  // namespace tandem
