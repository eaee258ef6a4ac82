// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "arch/chip.h"

namespace tandem {

/// Two fields of a chip that cannot both be right.
struct ChipProblem {
  std::string path;
  std::string problem;
  std::string expected;
};

/// What no single field shows: buffers too small for one tile, timings that contradict each other. Empty if sound.
/// The fields' own ranges are the reader's business.
std::vector<ChipProblem> chip_problems(const Chip& chip);

}  // namespace tandem
