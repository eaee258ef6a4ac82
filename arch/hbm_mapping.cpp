// SPDX-License-Identifier: Apache-2.0
#include "arch/hbm_mapping.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

#include "arch/support/error.h"

namespace tandem {
namespace {

using Field = HbmMapping::Field;

constexpr std::array<std::string_view, HbmMapping::kFields> kNames{"row", "bank_group", "bank", "column", "channel"};

std::uint64_t unsigned_of(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(1, value)); }

}  // namespace

std::optional<std::array<Field, HbmMapping::kFields>> mapping_order(std::string_view text) {
  std::array<Field, HbmMapping::kFields> order{};
  std::size_t count = 0;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word; ++count) {
    const auto name = std::find(kNames.begin(), kNames.end(), word);
    if (name == kNames.end() || count == order.size()) return std::nullopt;
    order[order.size() - 1 - count] = static_cast<Field>(name - kNames.begin());
  }
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  const bool repeated = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  return count == order.size() && !repeated ? std::optional(order) : std::nullopt;
}

HbmMapping::HbmMapping(const Hbm& hbm) {
  const auto order = mapping_order(hbm.controller.mapping);
  if (!order) throw ConfigError("hbm.controller.mapping does not name each field once");
  order_ = *order;
  const std::uint64_t page = unsigned_of(hbm.timing.page.value());
  block_ =
      hbm.controller.interleave.value() > 0 ? std::min(page, unsigned_of(hbm.controller.interleave.value())) : page;
  const std::uint64_t banks = unsigned_of(hbm.timing.bank_groups * hbm.timing.banks_per_group);
  const std::uint64_t row_bytes = page * banks * unsigned_of(hbm.channels());
  for (std::size_t i = 0; i < kFields; ++i) {
    switch (order_[i]) {
      case Field::channel: size_[i] = unsigned_of(hbm.channels()); break;
      case Field::column: size_[i] = page / block_; break;
      case Field::bank: size_[i] = unsigned_of(hbm.timing.banks_per_group); break;
      case Field::bank_group: size_[i] = unsigned_of(hbm.timing.bank_groups); break;
      case Field::row:
        // Rows on top are as many as the address asks for.
        size_[i] = i + 1 == kFields ? std::numeric_limits<std::uint64_t>::max()
                                    : std::max<std::uint64_t>(1, unsigned_of(hbm.capacity.value()) / row_bytes);
        break;
    }
  }
}

HbmLocation HbmMapping::locate(std::uint64_t address) const {
  HbmLocation location;
  std::uint64_t rest = address / block_;
  location.adjacent = Bytes(static_cast<std::int64_t>(block_ - address % block_));
  std::uint64_t bank = 0, group = 0, banks_per_group = 1;
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::uint64_t value = rest % size_[i];
    rest /= size_[i];
    switch (order_[i]) {
      case Field::channel: location.channel = static_cast<std::int64_t>(value); break;
      case Field::column: break;
      case Field::bank:
        bank = value;
        banks_per_group = size_[i];
        break;
      case Field::bank_group: group = value; break;
      case Field::row: location.row = static_cast<std::int64_t>(value); break;
    }
  }
  location.bank = static_cast<std::int64_t>(group * banks_per_group + bank);
  return location;
}

std::uint64_t HbmMapping::in_first_channel(std::uint64_t position) const {
  if (lowest() != Field::channel) throw ConfigError("traffic of one channel needs the channel as the lowest field");
  return position / block_ * block_ * size_.front() + position % block_;
}

}  // namespace tandem
