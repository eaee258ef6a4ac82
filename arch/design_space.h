// SPDX-License-Identifier: Apache-2.0
// A family of chips: a base chip and lists of values for some of its fields, under limits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/chip.h"
#include "arch/technology.h"

namespace tandem {

/// One varied field of the chip, by its YAML path (e.g. "tensor_cores.rows"), with its values as YAML scalars.
struct DesignAxis {
  std::string path;
  std::vector<std::string> values;
};

struct DesignSpace {
  Chip base;
  Technology technology;
  std::vector<DesignAxis> axes;
  /// Fields that follow others: {field, what it follows}. That is another field of the same kind, or, for sizes and
  /// counts, a product of fields, numbers and sizes, with a floor if needed:
  /// `max(1 KiB, tensor_cores.rows * tensor_cores.cols * 16 B)`. Applied in order, after the axes.
  std::vector<std::pair<std::string, std::string>> ties;
  std::optional<Area> max_area;
  std::optional<Area> min_area;
  std::vector<std::string> min_area_unless_one;  ///< counts: a chip with one of them at 1 may be smaller than min_area
  std::optional<Power> max_power;

  /// Points before limits; std::overflow_error beyond 64 bits.
  [[nodiscard]] std::int64_t size() const;
};

struct DesignPoint {
  std::int64_t index = 0;  ///< position in the enumeration (first axis slowest), before limits
  Chip chip;
  Area area{};
};

/// What enumeration left out, by reason.
struct DesignCounts {
  std::int64_t enumerated = 0, over_area = 0, under_area = 0, over_power = 0;
  std::int64_t contradictory = 0;   ///< fields that cannot go together, such as a buffer too small for one tile
  std::string first_contradiction;  ///< in words
};

/// Calls `visit` for every chip within the limits, in enumeration order. Throws ConfigError if an axis or a tie names
/// an unknown field, repeats one, or has a value that the field cannot take.
DesignCounts enumerate(const DesignSpace& space, const std::function<void(const DesignPoint&)>& visit);

}  // namespace tandem
