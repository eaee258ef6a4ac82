// SPDX-License-Identifier: Apache-2.0
// Answers as JSON for scripts. Times are seconds, sizes bytes, shares fractions; formats: docs/formats.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/scenario.h"
#include "workloads/answer.h"

namespace tandem {

nlohmann::ordered_json to_json(const TimeByCause& by_cause);  ///< {cause: seconds}, causes that took none left out
nlohmann::ordered_json to_json(const MemoryFootprint& memory);
nlohmann::ordered_json to_json(const Scenario& scenario);  ///< names, devices and plan
nlohmann::ordered_json to_json(const Answer& answer);

/// With two spaces of indentation and a line end; invalid UTF-8 is replaced, NaN is null.
std::string text_of(const nlohmann::ordered_json& json);

}  // namespace tandem
