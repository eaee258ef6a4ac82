// SPDX-License-Identifier: Apache-2.0
// One chip running one slice of operators, from idle, in a simulation of its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "arch/chip.h"
#include "sim/simulate.h"
#include "sim/trace_sink.h"
#include "workloads/answer.h"
#include "workloads/program.h"

namespace tandem {

/// Trace ids of the parts of one chip, each vector by the part's own index.
struct ChipUnits {
  std::int32_t chip = -1, command_processor = -1, noc = -1, global_buffer = -1;
  std::vector<std::int32_t> tensor_cores, vector_cores, dma_engines, hbm_channels;
};

/// Announces a chip's parts as `name`, `name`.tensor_core3, `name`.hbm0.channel2, ...
ChipUnits announce_chip(TraceSink& sink, const Chip& chip, std::string_view name = "chip0");

/// Announces the slice's operators in graph order; returns the id of the first.
std::int32_t announce_operators(TraceSink& sink, const Slice& slice);

/// Where the events of a chip's run go. Without a sink nothing is recorded.
struct ChipTrace {
  TraceSink* sink = nullptr;
  ChipUnits units;
  std::int32_t first_operator = 0;
  Picoseconds offset{};  ///< added to every time
};

struct SliceRun {
  SliceAnswer slice;
  std::vector<OperatorAnswer> operators;  ///< in graph order
  std::int64_t activations = 0;           ///< of simulation processes
  std::int64_t folded_tiles = 0;          ///< skipped in periods that repeat
};

/// Runs a mapped slice. An empty schedule runs the operators in graph order. Makes its own SimulationContext, so none
/// may be alive. What is recorded follows options.detail: `operators` the launch and the extent of each operator,
/// `tile` every tile and transfer, `transaction` also every HBM channel's part; `options.trace` is not used here.
/// Throws ConfigError or InfeasibleError for a mapping that does not suit the chip, DeadlockError, CancelledError.
SliceRun run_slice(const Chip& chip, const Slice& slice, const SimulationOptions& options = {},
                   const ChipTrace& trace = {});

}  // namespace tandem
