// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tools/against/against.h"
#include "tools/report/svg.h"

namespace tandem {

/// The kind's main quantity as published against what was predicted and simulated, one dot a row, on logarithmic axes;
/// the diagonal is agreement, the lines beside it a quarter off. Rows that failed are left out; nothing left: only
/// axes.
Svg scatter_plot(const CsvTable& table, const std::vector<RowOutcome>& outcomes);

}  // namespace tandem
