// SPDX-License-Identifier: Apache-2.0
// NEST's placement problem, as its solver reads it, and its exact optimum under NEST's own objective. Kept for
// comparison: what that objective leaves out is listed in docs/models.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "search/parity/parity_plan.h"
#include "search/parity/profiled_graph.h"

namespace tandem {

/// One level of the device tree, innermost first.
struct NestLevel {
  std::int64_t fan_out = 1;
  double bandwidth = 0;  ///< bytes per unit of time
  double latency = 0;
};

struct NestInstance {
  double memory_bytes = 0;  ///< of one device
  std::int64_t devices = 0;
  std::int64_t microbatches = 0;  ///< per iteration
  std::int64_t expert_parallel = 1, context_parallel = 1;
  bool recompute = false;
  std::vector<NestLevel> levels;  ///< three, as the gradient exchange formula knows no other number
  std::vector<ProfiledGraph> graphs;
};

/// The JSON of NEST's device-placement solver, plain or .xz. ConfigError for anything malformed.
NestInstance load_nest_instance(const std::filesystem::path& file);

/// Least iteration time in the solver's own unit over contiguous cuts, widths and data-parallel degrees, devices filled
/// in order from the last stage. Since all stages are equally wide, the level between two stages follows from their
/// position alone, so that (first layer, stages) is the whole state: O(n^2 s).
/// Source: the objective of NEST (arXiv 2603.06798) as its public solver computes it.
ParityPlan solve_nest(const NestInstance& instance);

}  // namespace tandem
