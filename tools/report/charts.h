// SPDX-License-Identifier: Apache-2.0
// The pictures of a search's report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/svg.h"
#include "tools/trace_file.h"

namespace tandem {

/// One candidate as the pictures need it.
struct ChartCandidate {
  std::string label, detail;
  double area_mm2 = 0;
  std::optional<double> predicted, simulated;      ///< tokens per second
  std::map<std::string, double> seconds_by_cause;  ///< simulated iteration; may be empty
};

/// Predicted and simulated throughput, one pair of bars a candidate, in the order given.
Svg ranking_chart(const std::vector<ChartCandidate>& candidates);
/// The simulated iteration of each candidate, split by cause.
Svg cause_chart(const std::vector<ChartCandidate>& candidates);
/// Area against throughput: all candidates as predicted, those simulated, the front of both, and baselines.
Svg pareto_chart(const std::vector<ChartCandidate>& all, const std::vector<ChartCandidate>& baselines);
/// The iteration, one row a unit of one data parallel replica, from a trace. Very short events of a row are merged into their neighbours.
Svg timeline_chart(const TraceFile& trace);

}  // namespace tandem
