// SPDX-License-Identifier: Apache-2.0
// Operators on tensor and vector cores, each on one core of its kind or spread over all: shortest schedule and proof.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tandem {

enum class CoreUse { tensor, vector, fused, none };  ///< fused: tensor core i and vector core i together

struct CoreOperator {
  CoreUse use = CoreUse::none;
  double on_one = 0;  ///< time on one core (a pair), any unit
  double spread = 0;  ///< time spread over all cores: nothing else runs meanwhile
};

struct CoreProblem {
  std::int64_t tensor_cores = 1, vector_cores = 1;
  std::vector<CoreOperator> operators;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  ///< acyclic
};

struct CoreScheduleLimits {
  std::int64_t nodes = 1'000'000;  ///< of the branch and bound; none of them is limited by the clock
  double gap = 0;                  ///< proven is enough within this fraction
};

struct CoreSchedule {
  std::vector<double> start;
  std::vector<bool> spread;
  std::vector<std::int32_t> tensor_core, vector_core;  ///< -1: none, or all
  double makespan = 0;
  double lower_bound = 0;  ///< proven: no schedule is shorter
  std::int64_t nodes = 0;

  [[nodiscard]] double gap() const { return lower_bound > 0 ? makespan / lower_bound - 1 : 0; }
};

/// List schedules under several priority rules, then depth-first branch and bound over semi-active schedules in order
/// of start. InfeasibleError if an operator has no core of its kind, ConfigError for a cycle, an edge that leads
/// nowhere or a time that is negative or not finite.
/// Source of the schedule model: PHAZE (arXiv 2407.13143), section 4, as its public code behaves: a spread operator
/// excludes all others, also those of the other kind.
CoreSchedule schedule_on_cores(const CoreProblem& problem, const CoreScheduleLimits& limits = {});

}  // namespace tandem
