// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/chip.h"
#include "workloads/mapping.h"
#include "workloads/program.h"

namespace tandem {

/// The mapping of `op` on the cores given with the least predicted time among those that fit the buffers.
/// InfeasibleError if not even the smallest tile fits, naming the buffer; ConfigError for an unsupported data type.
Mapping map_operator(const Chip& chip, const Operator& op, CoreRange tensor_cores, CoreRange vector_cores);
/// On all cores.
Mapping map_operator(const Chip& chip, const Operator& op);

/// Fills mappings and schedules of all slices; equal operators are mapped once.
void map_program(const Chip& chip, Program& program);

/// List schedule with its lower bound (critical path, core-area).
OperatorSchedule schedule_operators(const Chip& chip, const OperatorGraph& graph, std::span<const Mapping> mappings);

}  // namespace tandem
