// SPDX-License-Identifier: Apache-2.0
// One training iteration on all devices of a cluster, at layer-and-collective granularity.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "arch/cluster.h"
#include "sim/cluster/pipeline_executor.h"
#include "sim/cluster/timeline.h"
#include "sim/simulate.h"
#include "sim/trace_sink.h"
#include "workloads/program.h"

namespace tandem {

/// What went over one channel.
struct LinkUse {
  std::string name;
  std::int32_t level = 0;
  Bytes bytes{};
  Picoseconds busy{};      ///< of all lanes together
  double utilisation = 0;  ///< busy over lanes and iteration
};

struct StageUse {
  PipelineExecutor::Stats first;  ///< of the pipeline and context rank 0
  Picoseconds last_end{};         ///< of all replicas
};

struct ClusterRun {
  Picoseconds time{};            ///< from the first forward to the last update, without the iteration overhead
  std::vector<StageUse> stages;  ///< by pipeline position
  std::vector<LinkUse> links;    ///< by topology link
  std::vector<TimeByCause> layer_forward, layer_backward;  ///< by Program::layers, collectives alone on their links
  std::int64_t messages = 0, collectives = 0;
  std::vector<std::string> assumptions;
};

/// How much is aggregated; both must give the same result.
enum class Aggregation { exclusive_collectives, nothing };

struct ClusterOptions {
  Aggregation aggregation = Aggregation::exclusive_collectives;
  StepCosts::Record record = StepCosts::Record::nothing;
};

/// Trace ids of a cluster: one unit per executor, its chips below it.
struct ClusterUnits {
  std::vector<std::int32_t> executors;       ///< by (pp, dp, cp), the last fastest
  std::int32_t working = -1, messages = -1;  ///< counters
};
ClusterUnits announce_cluster(TraceSink& sink, const Program& program);

/// Plays the iteration with the given slice times. Makes SimulationContexts of its own. DeadlockError, CancelledError.
ClusterRun run_cluster(const Cluster& cluster, const Program& program, std::span<const SliceAnswer> slices,
                       const SimulationOptions& options = {}, const ClusterOptions& cluster_options = {},
                       TraceSink* sink = nullptr, const ClusterUnits& units = {});

}  // namespace tandem
