// SPDX-License-Identifier: Apache-2.0
// Small clusters and programs built by hand, for tests of the cluster simulation.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "arch/cluster.h"
#include "workloads/answer.h"
#include "workloads/program.h"

namespace tandem::testing {

using namespace std::chrono_literals;

constexpr Picoseconds operator""_ps(unsigned long long count) { return Picoseconds(static_cast<std::int64_t>(count)); }

/// The part of a plan that these tests vary.
struct Degrees {
  std::int64_t tp = 1, pp = 1, dp = 1, global_batch = 1;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int64_t virtual_stages = 1;
  bool blocking_sends = false;
};

inline Plan make_plan(const Degrees& degrees) {
  Plan plan;
  plan.tp = degrees.tp;
  plan.pp = degrees.pp;
  plan.dp = degrees.dp;
  plan.global_batch = degrees.global_batch;
  plan.schedule = degrees.schedule;
  plan.virtual_stages = degrees.virtual_stages;
  plan.blocking_sends = degrees.blocking_sends;
  plan.sequence = 1;
  return plan;
}

inline Level make_level(LevelKind kind, std::vector<std::int64_t> dims, double bytes_per_second, Seconds latency) {
  Level level;
  level.name = std::string(name_of(kind));
  level.kind = kind;
  level.dims = std::move(dims);
  level.link_bandwidth = Bandwidth(bytes_per_second);
  level.link_latency = latency;
  return level;
}

inline Cluster make_cluster(std::vector<Level> levels) {
  Cluster cluster;
  cluster.name = "test";
  cluster.levels = std::move(levels);
  cluster.chip.clock = Frequency(1e9);
  cluster.chip.tensor.count = 1;
  cluster.chip.tensor.rows = cluster.chip.tensor.cols = 128;
  cluster.chip.tensor.macs_per_pe[DataType::bf16] = 1;
  return cluster;
}

/// A slice that takes `time`, all of it compute.
inline SliceAnswer compute_slice(std::string name, Picoseconds time) {
  SliceAnswer slice{.name = std::move(name), .time = time, .by_cause = {}};
  slice.by_cause[Cause::compute] = time;
  return slice;
}

/// One kind of layer, `layers` of them on every stage: forward is slice 0, backward slice 1, the update slice 2.
struct Case {
  Program program;
  std::vector<SliceAnswer> slices;
};

inline Case make_case(const Degrees& degrees, Picoseconds forward, Picoseconds backward, std::int64_t layers = 1) {
  Case built;
  built.slices = {compute_slice("forward", forward), compute_slice("backward", backward),
                  compute_slice("update", 10us)};
  Program& program = built.program;
  program.plan = make_plan(degrees);
  program.slices.resize(built.slices.size());
  for (std::size_t i = 0; i < built.slices.size(); ++i) program.slices[i].name = built.slices[i].name;
  program.layers = {{.name = "block", .forward = {ComputeStep{0}}, .backward = {ComputeStep{1}}}};
  program.stages.resize(static_cast<std::size_t>(degrees.pp * degrees.virtual_stages));
  for (StageProgram& stage : program.stages) {
    stage.layers = {{.layer = 0, .count = layers}};
    stage.after = {ComputeStep{2}};
  }
  program.memory.resize(static_cast<std::size_t>(degrees.pp));
  return built;
}

inline Step call(Axis axis, CollectiveKind kind, std::int64_t bytes,
                 CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring) {
  return CollectiveStep{.name = "collective", .axis = axis, .collective = {kind, Bytes(bytes), algorithm}};
}

inline void send_between_stages(Program& program, std::int64_t bytes) {
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    program.stages[i].send_forward = Bytes(i + 1 < program.stages.size() ? bytes : 0);
    program.stages[i].send_backward = Bytes(i > 0 ? bytes : 0);
  }
}

}  // namespace tandem::testing
