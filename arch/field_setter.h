// SPDX-License-Identifier: Apache-2.0
// Fields of one chip addressed by their YAML paths.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arch/chip.h"

namespace tandem {

/// A field inside a chip, which must outlive it.
using FieldRef = std::variant<bool*, std::int64_t*, double*, std::string*, Bytes*, Bandwidth*, Frequency*, Power*,
                              Seconds*, Dataflow*, PagePolicy*, HbmScheduling*, HbmRefresh*>;

/// The field at a path such as "tensor_cores.rows" or "tensor_cores.macs_per_pe.bf16" (made if the chip has no such
/// entry yet); nothing if chips have no such field.
std::optional<FieldRef> find_field(Chip& chip, std::string_view path);

/// Every path of a chip's fields, those of maps as far as the chip has them.
std::vector<std::string> field_paths(const Chip& chip);

/// Puts the i-th of a list of values into a field of one chip.
struct FieldSetter {
  std::size_t values = 0;
  std::function<void(std::size_t)> set;
};

/// Parses `values` as the chip's YAML would, ranges included. Throws ConfigError for an unknown field (with the nearest
/// one) and for values that it cannot take.
FieldSetter make_setter(Chip& chip, const std::string& path, const std::vector<std::string>& values);

}  // namespace tandem
