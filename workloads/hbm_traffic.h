// SPDX-License-Identifier: Apache-2.0
// Traffic of a memory under test: what its prediction and its simulation have in common.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>

#include "arch/hbm_mapping.h"

namespace tandem {

enum class HbmPattern { sequential, strided, random, tiles, copy, lockstep, alternate_rows };

template <>
struct EnumNames<HbmPattern> {
  static constexpr auto values =
      std::to_array<std::pair<HbmPattern, std::string_view>>({{HbmPattern::sequential, "seq"},
                                                              {HbmPattern::sequential, "sequential"},
                                                              {HbmPattern::strided, "stride"},
                                                              {HbmPattern::strided, "strided"},
                                                              {HbmPattern::random, "rand"},
                                                              {HbmPattern::random, "random"},
                                                              {HbmPattern::tiles, "tile"},
                                                              {HbmPattern::tiles, "tiles"},
                                                              {HbmPattern::copy, "copy"},
                                                              {HbmPattern::lockstep, "lockstep"},
                                                              {HbmPattern::alternate_rows, "alternate rows"}});
};

enum class Arrivals { even, poisson };

/// Requests issue in order, piece by piece of a row. Reads hold their bytes of the window until their data is there,
/// writes until they are taken into a queue.
struct HbmTraffic {
  HbmPattern pattern = HbmPattern::sequential;
  Bytes request{256};  ///< rounded up to atoms
  Bytes stride{};      ///< strided, alternate_rows
  std::int64_t tile_rows = 1;
  Bytes tile_row{}, tile_pitch{};  ///< tiles follow each other along a band of tile_rows rows
  /// Sequential: engines of their own, which share the window evenly. Lockstep: one engine takes a request of each.
  std::int64_t streams = 1;
  Bytes stream_offset{};
  Bytes destination_offset{};  ///< copy
  double writes = 0;           ///< share of requests; 1: all; lockstep: the last stream if not 0
  Bytes window{};              ///< in flight at most; 0: no limit
  bool one_at_a_time = false;  ///< the next request (or tile) follows `gap` after the last byte of the one before
  Seconds gap{};
  double offered = 0;  ///< share of the peak rate at which requests arrive; 0: as fast as the window allows
  Arrivals arrivals = Arrivals::poisson;
  bool one_channel = false;  ///< addresses of one channel only
  std::uint64_t seed = 7;
};

struct HbmRequest {
  std::uint64_t address = 0;
  Bytes bytes{};
  bool write = false;
  bool ends_job = true;  ///< last of what is waited for where one follows the other
};

/// ConfigError if the traffic or the memory cannot be run.
void check_traffic(const Hbm& hbm, const HbmTraffic& traffic);

/// Engines that issue on their own.
std::int64_t engines_of(const HbmTraffic& traffic);

/// What one engine asks for, request by request, without end.
class HbmAddressStream {
 public:
  HbmAddressStream(const Hbm& hbm, const HbmTraffic& traffic, std::int64_t engine);
  HbmRequest next();
  /// Requests between arrivals, in units of the mean interval.
  double next_interval();

 private:
  [[nodiscard]] std::uint64_t place(std::uint64_t position) const;
  std::uint64_t random_below(std::uint64_t bound) { return random_() % bound; }
  double random_share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  HbmRequest next_tile_row();

  HbmTraffic traffic_;
  HbmMapping mapping_;
  std::uint64_t capacity_, channels_, request_;
  std::uint64_t base_ = 0, position_ = 0, count_ = 0;
  std::mt19937_64 random_;
};

}  // namespace tandem
