// SPDX-License-Identifier: Apache-2.0
// Pieces of the chip format that clusters need: a chip may stand inside a cluster file.
#pragma once

#include "arch/chip.h"
#include "arch/config_io.h"

namespace tandem {

/// Reads the chip that `section` holds; complaints go to its file.
Chip read_chip(const ConfigSection& section);

/// Writes every field, the derived and defaulted ones too.
void write_chip(const Chip& chip, FieldWriter& writer);

}  // namespace tandem
