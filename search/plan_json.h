// SPDX-License-Identifier: Apache-2.0
// Plans and placements as JSON, for the journal, the workers, result.json and answers. Keys are those of the plan's
// YAML.
#pragma once

#include <nlohmann/json.hpp>

#include "search/placement.h"
#include "workloads/plan.h"

namespace tandem {

nlohmann::ordered_json plan_json(const Plan& plan);
/// std::runtime_error if a field is missing or of another type.
Plan plan_from_json(const nlohmann::json& json);

nlohmann::json placement_json(const PlacementResult& result);
PlacementResult placement_from_json(const nlohmann::json& json);

/// One line for people: "tp 2, pp 4, dp 8, microbatch 1, recompute selective, 1f1b, stages 8 8 8 8".
std::string describe(const Plan& plan);

}  // namespace tandem
