// SPDX-License-Identifier: Apache-2.0
// The best division of equal layers into contiguous pipeline stages, when the first and the last stage have work of
// their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "workloads/pipeline.h"

namespace tandem {

struct StageProblem {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;  ///< not interleaved
  std::int64_t layers = 0;
  std::int64_t microbatches = 1;
  Seconds layer_forward{}, layer_backward{};
  std::vector<StageTimes> fixed;       ///< by stage: what it takes beside its layers, and its sends
  std::vector<std::int64_t> capacity;  ///< by stage: most layers that fit its memory
  /// Time after the last backward of a stage with so many layers; must not fall with them.
  std::function<Seconds(std::int64_t stage, std::int64_t layers)> after;
};

struct StageDivision {
  std::vector<std::int64_t> layers;  ///< by stage, at least one each
  Seconds time{};
  bool proven = true;  ///< no division is faster
};

/// Time of one division: each device's end in the pipeline and what it does after, the latest of all.
Seconds stage_time(const StageProblem& problem, const std::vector<std::int64_t>& layers);

/// Least time that any division could take, in closed form: the sum over all stages is the same for every division, so
/// the bound of a stage depends on its own layers alone and the best threshold is found stage by stage.
Seconds stage_bound(const StageProblem& problem);

/// Depth-first branch and bound, at most `node_limit` nodes; nothing if the layers do not fit. Among equally fast
/// divisions the first found, which is the most even one if that is among them.
std::optional<StageDivision> best_stages(const StageProblem& problem, std::int64_t node_limit);

}  // namespace tandem
