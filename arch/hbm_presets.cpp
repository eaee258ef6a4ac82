// SPDX-License-Identifier: Apache-2.0
#include "arch/hbm_presets.h"

#include <array>

namespace tandem {
namespace {

/// Times in nanoseconds.
struct Row {
  std::string_view name;
  std::int64_t channels, atom, page, banks_per_group;  // always four bank groups
  double gigabytes, gib;
  double tck, trcd, trcd_wr, trp, tras, tcl, tcwl, tccd_s, tccd_l, trrd, trrd_l, tfaw;
  double twtr_s, twtr, trtw, twr, trtp, trefi, trfc, trfc_pb;
};

// DRAMsim3 (umd-memsys/DRAMsim3, configs/NAME.ini; 128-bit channels, bursts of 4; what its parser ignores is left at
// its default: tRTP 5 clocks, tRTRS 2, in HBM_4Gb tRFC 74). HBM2: Ramulator 2 (CMU-SAFARI/ramulator2), HBM2_2000Mbps
// with HBM2_8Gb; pseudo-channels of 64 bit, bursts of 4. HBM2E: no set is public: the cells of HBM2_2400Mbps, columns
// at 3.2 Gb/s (AMD DS960). HBM3: the same, HBM3_6400Mbps with HBM3_16Gb_8hi; pseudo-channels of 32 bit, bursts of 8;
// two stack IDs are more banks. HBM3E: assumed the cells of HBM3, columns at 9.2 Gb/s (Micron).
constexpr std::array<Row, 8> kRows{{
    // clang-format off
    {"HBM1_4Gb_x128", 8, 64, 2048, 4, 128, 4, 2, 14, 14, 14, 34, 14, 4, 2, 4, 4, 6, 30, 6, 8, 18, 16, 10, 3900, 260, 40},
    {"HBM_4Gb_x128", 8, 64, 2048, 4, 128, 4, 2, 14, 12, 14, 34, 14, 8, 4, 6, 8, 10, 40, 4, 8, 14, 16, 10, 3900, 148, 40},
    {"HBM2_4Gb_x128", 8, 64, 2048, 4, 256, 4, 1, 14, 14, 14, 34, 14, 4, 1, 2, 4, 6, 30, 6, 8, 14, 16, 5, 3900, 260, 20},
    {"HBM2_8Gb_x128", 8, 64, 2048, 4, 256, 8, 1, 14, 14, 14, 34, 14, 4, 1, 2, 4, 6, 30, 6, 8, 14, 16, 5, 3900, 260, 20},
    {"HBM2", 16, 32, 1024, 4, 256, 8, 1, 14, 12, 14, 34, 14, 5, 2, 4, 4, 4, 15, 6, 8, 13, 16, 5, 3900, 350, 160},
    {"HBM2E", 16, 32, 1024, 4, 409.6, 16, 0.625, 14.161, 11.662, 14.161, 33.32, 14.161, 4.998, 1.25, 2.5, 4.165, 4.165,
     15.827, 6.664, 8.33, 12.495, 15.827, 4.998, 3900, 350.693, 160.769},
    {"HBM3", 32, 32, 1024, 8, 819.2, 16, 0.625, 19.375, 9.375, 16.25, 28.125, 12.5, 6.25, 1.25, 2.5, 2.5, 3.125, 15,
     4.375, 6.25, 12.5, 20.625, 5.625, 3900, 350, 200},
    {"HBM3E", 32, 32, 1024, 8, 1177.6, 24, 0.4348, 19.375, 9.375, 16.25, 28.125, 12.5, 6.25, 0.8696, 1.7391, 2.5, 3.125,
     15, 4.375, 6.25, 12.5, 20.625, 5.625, 3900, 350, 200},
    // clang-format on
}};

/// Access of a whole 128-bit channel.
constexpr std::int64_t kWideAtom = 64;

constexpr Seconds ns(double value) { return Seconds(value * 1e-9); }

Hbm from(const Row& row) {
  constexpr std::int64_t kGib = std::int64_t{1} << 30;
  Hbm hbm;
  hbm.generation = row.name;
  hbm.stacks = 1;
  hbm.channels_per_stack = row.channels;
  hbm.capacity = Bytes(kGib * static_cast<std::int64_t>(row.gib));
  hbm.bandwidth = Bandwidth(row.gigabytes * 1e9);
  hbm.atom = Bytes(row.atom);
  HbmTiming& t = hbm.timing;
  t.tck = ns(row.tck);
  t.trcd = ns(row.trcd);
  t.trcd_wr = ns(row.trcd_wr);
  t.trp = ns(row.trp);
  t.tras = ns(row.tras);
  t.tcl = ns(row.tcl);
  t.tcwl = ns(row.tcwl);
  t.tccd_s = ns(row.tccd_s);
  t.tccd_l = ns(row.tccd_l);
  t.trrd = ns(row.trrd);
  t.trrd_l = ns(row.trrd_l);
  t.tfaw = ns(row.tfaw);
  t.twtr_s = ns(row.twtr_s);
  t.twtr = ns(row.twtr);
  t.trtw = ns(row.trtw);
  t.twr = ns(row.twr);
  t.trtp = ns(row.trtp);
  t.trefi = ns(row.trefi);
  t.trfc = ns(row.trfc);
  t.trfc_pb = ns(row.trfc_pb);
  t.page = Bytes(row.page);
  t.bank_groups = 4;
  t.banks_per_group = row.banks_per_group;
  if (row.atom < kWideAtom) {
    // Pseudo-channels: one bank group alone cannot fill the bus, so neighbouring blocks lie in different ones.
    hbm.controller.mapping = "row bank column bank_group channel";
    hbm.controller.interleave = Bytes(256);
  }
  return hbm;
}

}  // namespace

std::optional<Hbm> hbm_preset(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return from(row);
  }
  return std::nullopt;
}

std::vector<std::string> hbm_preset_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace tandem
