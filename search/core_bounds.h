// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "search/core_schedule.h"

namespace tandem {

/// Graph of a CoreProblem with what bounds need.
struct CoreGraph {
  const CoreProblem* problem = nullptr;
  std::vector<std::vector<std::int32_t>> before, after;
  std::vector<std::int32_t> order;  ///< topological
  std::vector<double> least;        ///< fastest choice
  std::vector<double> tail;         ///< longest way from an operator's start to the end, under fastest choices
};

/// Throws as schedule_on_cores.
CoreGraph analyse(const CoreProblem& problem);

/// Mean time at which tensor and vector cores become free.
struct CoresFree {
  double tensor = 0, vector = 0;
};

/// Least end of the work of operators with `open`. With weight w on tensor cores and 1 - w on vector cores, a makespan
/// is at least the weighted mean of both kinds' work, and a spread operator counts whole, as it blocks both kinds:
///   w free_t + (1 - w) free_v + sum of min(spread, on_one (w / n_t [uses t] + (1 - w) / n_v [uses v])).
/// The largest over several w (it is concave in w).
double work_bound(const CoreGraph& graph, const std::vector<bool>& open, CoresFree free);

/// Before anything is scheduled: the critical path, and for every pair of a least start h and a least tail q the work
/// of the operators that start no earlier than h and have at least q after them.
double root_bound(const CoreGraph& graph);

}  // namespace tandem
