// SPDX-License-Identifier: Apache-2.0
#include "arch/chip.h"

#include <algorithm>
#include <charconv>

namespace tandem {

double Chip::core_macs_per_cycle(DataType type) const {
  const auto rate = tensor.macs_per_pe.find(type);
  if (rate == tensor.macs_per_pe.end()) return 0;
  return static_cast<double>(tensor.arrays * tensor.rows * tensor.cols) * rate->second;
}

FlopRate Chip::peak(DataType type) const {
  return FlopRate(2.0 * static_cast<double>(tensor.count) * core_macs_per_cycle(type) * clock.value());
}

FlopRate Chip::vector_peak() const {
  const double rate = vector.throughput[static_cast<std::size_t>(VectorOp::multiply_add)];
  return FlopRate(static_cast<double>(vector.count * vector.lanes) * rate * clock.value());
}

std::optional<std::vector<OutputTile>> output_tiles(std::string_view list) {
  constexpr std::int64_t kMost = 1 << 14;
  std::vector<OutputTile> tiles;
  while (true) {
    list.remove_prefix(std::min(list.find_first_not_of(' '), list.size()));
    if (list.empty()) return tiles;
    const std::string_view word = list.substr(0, list.find(' '));
    list.remove_prefix(word.size());
    OutputTile tile;
    const char* const end = word.data() + word.size();
    const auto [x, m_error] = std::from_chars(word.data(), end, tile.m);
    if (m_error != std::errc() || x == end || *x != 'x') return std::nullopt;
    const auto [stop, n_error] = std::from_chars(x + 1, end, tile.n);
    if (n_error != std::errc() || stop != end) return std::nullopt;
    if (tile.m < 1 || tile.n < 1 || tile.m > kMost || tile.n > kMost) return std::nullopt;
    tiles.push_back(tile);
  }
}

double Chip::ridge_point(DataType type) const { return peak(type).value() / hbm.bandwidth.value(); }

}  // namespace tandem
