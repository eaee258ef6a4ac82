// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/against/against.h"

namespace tandem {

/// {"rows", "failed", "predicted": {mean_abs_error, ...}, "simulated": {...}, "metrics": {NAME: ...}}
nlohmann::ordered_json against_json(const std::vector<RowOutcome>& outcomes);
/// Errors in all and by group.
std::string against_text(const CsvTable& table, const ReferenceKind& kind, const std::vector<RowOutcome>& outcomes);
/// How many rows could not be run for which reason, with the first of each; empty if all ran.
std::string failures_text(const CsvTable& table, const std::vector<RowOutcome>& outcomes);
/// The file's own columns, then predicted, simulated, reference and both errors of every metric, and the failure.
std::string against_csv(const CsvTable& table, const std::vector<RowOutcome>& outcomes);

}  // namespace tandem
