// SPDX-License-Identifier: Apache-2.0
#include "sim/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arch/support/error.h"
#include "sim/chip_simulation.h"
#include "sim/cluster/cluster_simulation.h"
#include "sim/cluster/iteration_answer.h"
#include "sim/slice_memo.h"
#include "sim/trace/config_texts.h"
#include "sim/trace/hdf5_trace.h"

namespace tandem {
namespace {

void require_enough_devices(const Cluster& cluster, const Plan& plan) {
  if (plan.devices() <= cluster.devices()) return;
  throw InfeasibleError(fmt::format("the plan needs {} devices (tp {} x cp {} x dp {} x pp {}), cluster {} has {}",
                                    plan.devices(), plan.tp, plan.cp, plan.dp, plan.pp, cluster.name,
                                    cluster.devices()));
}

void require_mapped(const Program& program) {
  for (const Slice& slice : program.slices) {
    if (slice.mappings.size() == slice.graph.operators.size()) continue;
    throw std::invalid_argument(fmt::format("slice {} has {} operators and {} mappings", slice.name,
                                            slice.graph.operators.size(), slice.mappings.size()));
  }
}

std::unique_ptr<Hdf5Trace> open_trace(const Cluster& cluster, const Program& program,
                                      const SimulationOptions& options) {
  return options.trace ? std::make_unique<Hdf5Trace>(*options.trace, cluster, program, options) : nullptr;
}

/// A run that leaves no trace; an earlier simulation's where there is one.
SliceRun run_untraced(const Chip& chip, const Slice& slice, const SimulationOptions& options) {
  if (options.memo == nullptr) return run_slice(chip, slice, options);
  if (const SliceRun* earlier = options.memo->find(chip, options.ideal, slice)) return *earlier;
  SliceRun run = run_slice(chip, slice, options);
  options.memo->keep(chip, options.ideal, slice, run);
  return run;
}

/// Runs every distinct slice on a chip; equal ones share the run.
void run_slices(const Cluster& cluster, const Program& program, const SimulationOptions& options, Hdf5Trace* trace,
                const ChipTrace& chip_trace, const std::vector<std::int32_t>& first_operators, Answer& answer) {
  SimulationOptions slice_options = options;
  slice_options.progress = nullptr;
  std::vector<SliceRun> runs;
  for (std::size_t i = 0; i < program.slices.size(); ++i) {
    const Slice& slice = program.slices[i];
    const auto equal = std::find_if(program.slices.begin(), program.slices.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const Slice& earlier) { return same_work(earlier, slice); });
    const auto index = static_cast<std::size_t>(equal - program.slices.begin());
    if (index < i && trace == nullptr) {
      runs.push_back(runs[index]);
    } else if (trace == nullptr) {
      runs.push_back(run_untraced(cluster.chip, slice, slice_options));
    } else {
      ChipTrace into = chip_trace;
      if (into.sink != nullptr) {
        into.first_operator = first_operators[i];
        trace->events_of_slice(static_cast<std::int32_t>(i));
      }
      runs.push_back(run_slice(cluster.chip, slice, slice_options, into));
    }
    runs.back().slice.name = slice.name;
    for (OperatorAnswer& op : runs.back().operators) op.slice = slice.name;
    answer.slices.push_back(runs.back().slice);
    answer.slices.back().host =
        to_picoseconds(cluster.issue_overhead * static_cast<double>(slice.graph.operators.size()));
    answer.operators.insert(answer.operators.end(), runs.back().operators.begin(), runs.back().operators.end());
  }
  if (trace != nullptr) trace->events_of_slice(-1);
}

}  // namespace

Answer simulate(const Cluster& cluster, const Program& program, const SimulationOptions& options,
                const Answer* predicted) {
  require_enough_devices(cluster, program.plan);
  require_mapped(program);
  const std::unique_ptr<Hdf5Trace> trace = open_trace(cluster, program, options);
  TraceSink* sink = options.detail == Detail::summary ? nullptr : trace.get();
  ClusterUnits units;
  ChipTrace chip_trace;
  std::vector<std::int32_t> first_operators;
  ClusterOptions cluster_options;
  if (trace != nullptr) {
    units = announce_cluster(*trace, program);
    chip_trace.sink = sink;
    chip_trace.units = announce_chip(*trace, cluster.chip);
    for (const Slice& slice : program.slices) first_operators.push_back(announce_operators(*trace, slice));
    if (sink != nullptr) cluster_options.record = StepCosts::Record::slices;
    trace->start();
  }
  Answer answer;
  run_slices(cluster, program, options, sink == nullptr ? nullptr : trace.get(), chip_trace, first_operators, answer);
  const ClusterRun run = run_cluster(cluster, program, answer.slices, options, cluster_options, sink, units);
  add_iteration(answer, cluster, program, run);
  answer.assumptions = modelling_assumptions(cluster);
  answer.assumptions.insert(answer.assumptions.end(), run.assumptions.begin(), run.assumptions.end());
  if (trace != nullptr) {
    trace->write_summary(answer, predicted, run);
    trace->complete();
  }
  return answer;
}

}  // namespace tandem
