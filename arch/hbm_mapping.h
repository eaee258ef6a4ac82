// SPDX-License-Identifier: Apache-2.0
// Where an address lies in HBM.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "arch/hbm.h"

namespace tandem {

struct HbmLocation {
  std::int64_t channel = 0;  ///< of all stacks
  std::int64_t bank = 0;     ///< of the channel, banks of one group in a row
  std::int64_t row = 0;
  Bytes adjacent{};  ///< from here on in the same row without a gap
};

/// Address fields from low to high above the block; the row, whatever its place, takes no more than the capacity has.
class HbmMapping {
 public:
  enum class Field { row, bank_group, bank, column, channel };
  static constexpr std::size_t kFields = 5;

  /// The memory must have a page and a sound order of fields.
  explicit HbmMapping(const Hbm& hbm);
  [[nodiscard]] HbmLocation locate(std::uint64_t address) const;
  /// The `position`-th byte of those that lie in channel 0, which must be the lowest field.
  [[nodiscard]] std::uint64_t in_first_channel(std::uint64_t position) const;
  [[nodiscard]] Bytes block() const { return Bytes(static_cast<std::int64_t>(block_)); }
  [[nodiscard]] Field lowest() const { return order_.front(); }

 private:
  std::uint64_t block_;
  std::array<Field, kFields> order_;  ///< from low to high
  std::array<std::uint64_t, kFields> size_;
};

/// The fields from low to high of "row bank_group bank column channel", each once; nullopt if it is not that.
std::optional<std::array<HbmMapping::Field, HbmMapping::kFields>> mapping_order(std::string_view text);

}  // namespace tandem
