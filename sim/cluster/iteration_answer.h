// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arch/cluster.h"
#include "sim/cluster/cluster_simulation.h"
#include "workloads/answer.h"
#include "workloads/program.h"

namespace tandem {

/// Fills layers, stages and iteration of `answer` from a cluster run. A stage's causes are those of its first
/// pipeline's device over the whole iteration, waiting included; the iteration's are those of the stage that is busiest
/// (the first of equals), so both add up to the iteration time. Throws std::logic_error for an MFU above one.
void add_iteration(Answer& answer, const Cluster& cluster, const Program& program, const ClusterRun& run);

}  // namespace tandem
