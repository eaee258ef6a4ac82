// SPDX-License-Identifier: Apache-2.0
#include "sim/chip_simulation.h"

#include <fmt/format.h>
#include <algorithm>

#include "sim/chip/chip_module.h"
#include "sim/kernel/context.h"

namespace tandem {
namespace {

void add(TimeByCause& sum, const TimeByCause& part) {
  for (std::size_t i = 0; i < kCauses; ++i) sum.part[i] += part.part[i];
}

OperatorAnswer operator_answer(const Chip& chip, const Slice& slice, const sim::ChipModule& module,
                               const sim::CommandProcessor& processor, std::size_t position) {
  const auto index = static_cast<std::size_t>(module.order()[position]);
  const Operator& op = slice.graph.operators[index];
  const sim::CommandProcessor::Result& result = processor.results()[position];
  const sim::OperatorRun::Counts& counts = processor.run(position).counts();
  OperatorAnswer answer;
  answer.slice = slice.name;
  answer.name = op.name;
  answer.kind = op.kind;
  answer.pass = op.pass;
  answer.start = result.start;
  answer.time = result.end - result.start;
  answer.by_cause = result.by_cause;
  answer.flops = op.flops();
  answer.hbm_bytes = counts.hbm_read + counts.hbm_write;
  answer.accesses.macs = counts.macs;
  answer.accesses.vector_operations = op.vector_flops().value();
  answer.accesses.local = counts.local;
  answer.accesses.global = counts.core_read + counts.core_write + answer.hbm_bytes;
  answer.accesses.noc = counts.port_read + counts.core_write;
  answer.accesses.hbm = answer.hbm_bytes;
  const double seconds = to_seconds(answer.time).count();
  if (seconds > 0) {
    const double done = is_matmul(op.kind)
                            ? static_cast<double>(op.matmul_flops().value()) / chip.peak(op.dtype).value()
                            : to_seconds(counts.vector_busy).count() / static_cast<double>(chip.vector.count);
    answer.utilisation = done / seconds;
  }
  return answer;
}

/// Along the operators whose ends let the next one start, back from the last.
SliceAnswer slice_answer(const Slice& slice, const std::vector<sim::CommandProcessor::Result>& results) {
  SliceAnswer answer;
  answer.name = slice.name;
  std::int32_t last = -1;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (last < 0 || results[i].end > results[static_cast<std::size_t>(last)].end) last = static_cast<std::int32_t>(i);
  }
  if (last < 0) return answer;
  answer.time = results[static_cast<std::size_t>(last)].end;
  for (std::int32_t at = last; at >= 0; at = results[static_cast<std::size_t>(at)].released_by) {
    add(answer.by_cause, results[static_cast<std::size_t>(at)].by_cause);
  }
  return answer;
}

}  // namespace

ChipUnits announce_chip(TraceSink& sink, const Chip& chip, std::string_view name) {
  ChipUnits units;
  units.chip = sink.add_unit(name, "chip", -1);
  const auto child = [&](const std::string& suffix, std::string_view kind, std::int32_t parent) {
    return sink.add_unit(fmt::format("{}.{}", name, suffix), kind, parent);
  };
  units.command_processor = child("command_processor", "command_processor", units.chip);
  units.noc = child("noc", "noc", units.chip);
  units.global_buffer = child("global_buffer", "global_buffer", units.chip);
  for (std::int64_t i = 0; i < chip.tensor.count; ++i) {
    units.tensor_cores.push_back(child(fmt::format("tensor_core{}", i), "tensor_core", units.chip));
  }
  for (std::int64_t i = 0; i < chip.vector.count; ++i) {
    units.vector_cores.push_back(child(fmt::format("vector_core{}", i), "vector_core", units.chip));
  }
  for (std::int64_t i = 0; i < chip.dma.engines; ++i) {
    units.dma_engines.push_back(child(fmt::format("dma{}", i), "dma_engine", units.chip));
  }
  for (std::int64_t stack = 0; stack < chip.hbm.stacks; ++stack) {
    const std::int32_t parent = child(fmt::format("hbm{}", stack), "hbm_stack", units.chip);
    for (std::int64_t channel = 0; channel < chip.hbm.channels_per_stack; ++channel) {
      units.hbm_channels.push_back(child(fmt::format("hbm{}.channel{}", stack, channel), "hbm_channel", parent));
    }
  }
  return units;
}

std::int32_t announce_operators(TraceSink& sink, const Slice& slice) {
  std::int32_t first = 0;
  for (std::size_t i = 0; i < slice.graph.operators.size(); ++i) {
    const std::int32_t id = sink.add_operator(slice.name, slice.graph.operators[i]);
    if (i == 0) first = id;
  }
  return first;
}

SliceRun run_slice(const Chip& chip, const Slice& slice, const SimulationOptions& options, const ChipTrace& trace) {
  SliceRun run;
  run.slice.name = slice.name;
  if (slice.graph.operators.empty()) return run;
  sim::check_slice(chip, slice);
  const SimulationContext context;
  sim::ChipModule module("chip0", chip, slice, options, trace);
  const sim::CommandProcessor& processor = module.command_processor();
  sc_core::sc_start();
  if (processor.was_cancelled()) throw CancelledError("simulation of " + slice.name + " was cancelled");
  if (!processor.finished()) {
    throw DeadlockError("simulation of " + slice.name + " has no event left, but" + processor.unfinished());
  }
  run.operators.resize(slice.graph.operators.size());
  for (std::size_t i = 0; i < processor.results().size(); ++i) {
    run.operators[static_cast<std::size_t>(module.order()[i])] = operator_answer(chip, slice, module, processor, i);
  }
  run.slice = slice_answer(slice, processor.results());
  run.activations = module.activations();
  run.folded_tiles = module.folded().tiles;
  return run;
}

SliceAnswer simulate_slice(const Chip& chip, const Slice& slice, std::vector<OperatorAnswer>* operators,
                           const SimulationOptions& options) {
  SliceRun run = run_slice(chip, slice, options);
  if (operators != nullptr) *operators = std::move(run.operators);
  return run.slice;
}

OperatorAnswer simulate_operator(const Chip& chip, const Operator& op, const Mapping& mapping,
                                 const SimulationOptions& options) {
  Slice slice;
  slice.name = op.name;
  slice.graph.operators = {op};
  slice.mappings = {mapping};
  return run_slice(chip, slice, options).operators.front();
}

}  // namespace tandem
