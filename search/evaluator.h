// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/cluster.h"
#include "workloads/answer.h"
#include "workloads/program.h"

namespace tandem {

/// How the search asks for a second opinion; tools/ hands it the simulator. Called in worker processes, one call at a
/// time each. A candidate that cannot run is an InfeasibleError.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// `trace`: file to write, or empty.
  virtual Answer evaluate(const Cluster& cluster, const Program& program, const std::string& trace) = 0;
};

}  // namespace tandem
