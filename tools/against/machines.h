// SPDX-License-Identifier: Apache-2.0
// The chips and clusters that reference files name.
#pragma once

#include <cstdint>
#include <string>

#include "tools/against/against.h"

namespace tandem {

/// RowFailure "unknown device" if no shipped chip stands for `device`.
Chip chip_of_row(const std::string& device, const MachineOverride& machine);

/// The cluster for `hardware` joined by `network`, grown or shrunk to at least `devices` whole inner groups; RowFailure
/// "unknown system" if none stands for it.
Cluster cluster_of_row(const std::string& hardware, const std::string& network, std::int64_t devices,
                       const MachineOverride& machine);

/// "fp16 mixed", "bf16 (fp32 weights)", "FP8-CS": the type of the matmuls. RowFailure "unknown data type".
DataType dtype_of_row(const std::string& text);

}  // namespace tandem
