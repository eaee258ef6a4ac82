// SPDX-License-Identifier: Apache-2.0
// High-bandwidth memory as plain data: device timings, address mapping, policy of the controllers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"

namespace tandem {

/// Device timings of one HBM generation (JEDEC names). All zero: an ideal memory. The second group refines the first:
/// zero means what its comment says.
struct HbmTiming {
  Seconds trcd{}, trp{}, tras{}, tcl{}, tccd_s{}, tccd_l{}, trrd{}, tfaw{}, twtr{}, trtw{}, trefi{}, trfc{};
  Seconds tck{};      ///< between two commands; 0: half a burst
  Seconds trcd_wr{};  ///< before a write; 0: trcd
  Seconds tcwl{};     ///< write command to data; 0: tcl
  Seconds trrd_l{};   ///< within a bank group; 0: trrd
  Seconds twtr_s{};   ///< to another bank group; 0: twtr
  Seconds twr{};      ///< last write data to precharge; 0: none
  Seconds trtp{};     ///< read command to precharge; 0: none
  Seconds trfc_pb{};  ///< of one bank, where banks are refreshed one by one; 0: trfc
  Bytes page{};       ///< row of one (pseudo-)channel
  std::int64_t bank_groups = 1;
  std::int64_t banks_per_group = 1;
};

/// Whether a row stays open after the last access that asked for it.
enum class PagePolicy { open, close };
template <>
struct EnumNames<PagePolicy> {
  static constexpr auto values = std::to_array<std::pair<PagePolicy, std::string_view>>(
      {{PagePolicy::open, "open"}, {PagePolicy::close, "close"}});
};

/// Who is next: the first that can go (row hits before an older conflict as long as its row may not be closed yet), or
/// within a bank strictly the oldest.
enum class HbmScheduling { first_ready, in_order };
template <>
struct EnumNames<HbmScheduling> {
  static constexpr auto values = std::to_array<std::pair<HbmScheduling, std::string_view>>(
      {{HbmScheduling::first_ready, "first_ready"}, {HbmScheduling::in_order, "in_order"}});
};

/// All banks of a channel at once every trefi, or one bank after another, each every trefi.
enum class HbmRefresh { all_bank, per_bank };
template <>
struct EnumNames<HbmRefresh> {
  static constexpr auto values = std::to_array<std::pair<HbmRefresh, std::string_view>>(
      {{HbmRefresh::all_bank, "all_bank"}, {HbmRefresh::per_bank, "per_bank"}});
};

/// Policy of the memory controllers, one per channel. Queue depths are in atoms.
struct HbmController {
  PagePolicy page_policy = PagePolicy::open;
  HbmScheduling scheduling = HbmScheduling::first_ready;
  HbmRefresh refresh = HbmRefresh::all_bank;
  std::int64_t bank_queue = 8;
  std::int64_t read_queue = 32;   ///< before the bank queues
  std::int64_t write_queue = 32;  ///< drained when it is full, or when the banks have nothing else to do
  std::int64_t write_mark = 8;    ///< more writes than this are drained when the banks are idle
  std::int64_t row_hits = 4;      ///< accesses to a row after which an older request to another row may close it
  /// Fields of an address from high to low, above a block of `interleave` adjacent bytes of one row.
  std::string mapping = "row bank_group bank column channel";
  Bytes interleave{};  ///< 0: a whole row
};

struct Hbm {
  std::string generation{};  ///< HBM2, HBM2E, HBM3, HBM3E, ...
  std::int64_t stacks = 0;
  std::int64_t channels_per_stack = 0;  ///< pseudo-channels where there are any: each has banks and a bus of its own
  Bytes capacity{};                     ///< all stacks
  Bandwidth bandwidth{};                ///< peak of all channels
  /// Share of the peak that the way from the channels to the global buffer keeps under load, before what the timings
  /// below take.
  double sustained = 1;
  Bytes atom{};  ///< smallest access of one channel
  HbmTiming timing{};
  HbmController controller{};

  [[nodiscard]] std::int64_t channels() const { return stacks * channels_per_stack; }
  /// Sustained, of one channel.
  [[nodiscard]] Bandwidth channel_bandwidth() const { return bandwidth * sustained / channels(); }
};

}  // namespace tandem
