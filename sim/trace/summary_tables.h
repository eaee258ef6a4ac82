// SPDX-License-Identifier: Apache-2.0
// /summary of a trace: predicted and simulated side by side.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arch/support/hdf5.h"
#include "sim/cluster/cluster_simulation.h"
#include "workloads/answer.h"

namespace tandem {

/// Path and columns of every table under /summary.
std::vector<std::pair<std::string, std::vector<hdf5::Column>>> summary_tables();

/// Appends all rows. `predicted` null: its columns hold -1.
void write_summary_rows(std::map<std::string, hdf5::TableWriter>& tables, const Answer& simulated,
                        const Answer* predicted, const ClusterRun& run);

}  // namespace tandem
