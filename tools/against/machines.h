// SPDX-License-Identifier: Apache-2.0
// The chips and clusters that reference files name.
#pragma once

#include <string>

#include "tools/against/against.h"

namespace tandem {

/// RowFailure "unknown device" if no shipped chip stands for `device`.
Chip chip_of_row(const std::string& device, const MachineOverride& machine);

/// The cluster that `network` (a network, or a whole system) stands for, else the one that `hardware` stands for, with
/// the chips of `hardware`; RowFailure "unknown system" or "unknown device" if there is none.
Cluster cluster_of_row(const std::string& hardware, const std::string& network, const MachineOverride& machine);

/// "fp16 mixed", "bf16 (fp32 weights)", "FP8-CS": the type of the matmuls. RowFailure "unknown data type".
DataType dtype_of_row(const std::string& text);

}  // namespace tandem
