// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "arch/chip.h"

namespace tandem {

/// A function that sets `field` of `chip` from the chip's other fields, as `source` says: another field, or
/// `[max(FLOOR,] FACTOR * FACTOR ... [)]` of fields, whole numbers and sizes. The chip must outlive it. Throws
/// ConfigError if the text is neither or the kinds do not match; calling it throws std::overflow_error beyond 64 bits.
std::function<void()> make_tie(Chip& chip, const std::string& field, const std::string& source);

}  // namespace tandem
