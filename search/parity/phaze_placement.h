// SPDX-License-Identifier: Apache-2.0
// PHAZE's placement problem, as its solver reads it, and its exact optimum under PHAZE's own objective. Kept for
// comparison: what that objective leaves out is listed in docs/models.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "search/parity/parity_plan.h"
#include "search/parity/profiled_graph.h"

namespace tandem {

struct PhazeInstance {
  double memory_bytes = 0;  ///< of one device
  std::int64_t devices = 0;
  double bandwidth = 0;           ///< bytes per second, one for all links
  std::int64_t microbatches = 0;  ///< per iteration
  bool recompute = false;
  bool adam = false;  ///< one more copy of the parameters
  std::vector<ProfiledGraph> graphs;
};

/// The JSON of PHAZE's device-placement solver. ConfigError for anything malformed: cycles, edges to nowhere, no
/// microbatches, negative sizes.
PhazeInstance load_phaze_instance(const std::filesystem::path& file);

/// Least iteration time (seconds) over contiguous cuts in topological order, widths and data-parallel degrees, by
/// dynamic programming over (first layer, stages, wide stages): O(n^2 s) for a chain at one width.
/// Source: the objective of Wang et al. (arXiv 2407.13143), section 4, as its public solver computes it.
ParityPlan solve_phaze(const PhazeInstance& instance);

}  // namespace tandem
