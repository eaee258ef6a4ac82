// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "arch/support/config_tree.h"

namespace tandem {

struct AxisValues {
  std::vector<std::string> values;  ///< as YAML scalars, units kept
  std::string problem, expected;    ///< set if the node is no list of values
};

/// The values of one design axis: a scalar, a list of scalars, `{from: 64 MiB, to: 256 MiB, step: 64 MiB}` (both ends
/// included) or `{powers_of_two: [32 MiB, 256 MiB]}` (from the first, doubling). The unit is that of the first value.
AxisValues read_axis_values(const ConfigNode& node);

}  // namespace tandem
