// SPDX-License-Identifier: Apache-2.0
// The mapper's two halves; called by map_operator alone. And what bounds on it need to know.
#pragma once

#include <vector>

#include "arch/chip.h"
#include "workloads/mapping.h"

namespace tandem {

MatmulMapping map_matmul(const Chip& chip, const Operator& op, CoreRange tensor_cores, CoreRange vector_cores);
/// Output tiles that map_matmul looks at: those that kernels exist for, or any of `least` elements a side at least. It
/// tries kLeastTile first and, only if none fits, tiles of any size.
std::vector<OutputTile> output_tile_candidates(const Chip& chip, const MatmulShape& shape, std::int64_t least);
inline constexpr std::int64_t kLeastTile = 16;

VectorMapping map_vector(const Chip& chip, const Operator& op, CoreRange vector_cores);

}  // namespace tandem
