// SPDX-License-Identifier: Apache-2.0
// Energy of operators by component, from what they moved and the figures of the chip's technology.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/scenario.h"
#include "workloads/answer.h"

namespace tandem {

/// Adds to every operator of an answer in JSON "energy_j": joules on one device by component and in total, leakage over
/// the operator's time. Leaves the answer as it is where the technology is not known or states no such MAC.
void add_energy(nlohmann::ordered_json& json, const Answer& answer, const Scenario& scenario);

}  // namespace tandem
