// SPDX-License-Identifier: Apache-2.0
// The analytical model. Microseconds per operator; what the search weighs every candidate with.
#pragma once

#include <span>

#include "arch/cluster.h"
#include "search/communication.h"
#include "workloads/answer.h"
#include "workloads/program.h"

namespace tandem {

/// Roofline by component over the mapping's own tiles and traffic. Never below the operator's roofline.
OperatorAnswer predict_operator(const Chip& chip, const Operator& op, const Mapping& mapping);

/// One training iteration. `program` must be mapped. `memo`: of clusters with this network, or none.
Answer predict(const Cluster& cluster, const Program& program, CommunicationMemo* memo = nullptr);

}  // namespace tandem
