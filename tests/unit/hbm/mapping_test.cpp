// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "arch/hbm_mapping.h"
#include "arch/hbm_presets.h"
#include "arch/support/error.h"

namespace tandem {
namespace {

TEST(HbmMapping, FollowsTheOrderOfFields) {
  // DRAMsim3's rorabgbachco: 2 KiB of a row, then channel, bank, bank group, row.
  const HbmMapping mapping(*hbm_preset("HBM2_8Gb_x128"));
  EXPECT_EQ(mapping.locate(0).channel, 0);
  EXPECT_EQ(mapping.locate(2047).channel, 0);
  EXPECT_EQ(mapping.locate(2047).adjacent, Bytes(1));
  EXPECT_EQ(mapping.locate(2048).channel, 1);
  EXPECT_EQ(mapping.locate(16384).channel, 0);
  EXPECT_EQ(mapping.locate(16384).bank, 1);
  EXPECT_EQ(mapping.locate(65536).bank, 4);
  EXPECT_EQ(mapping.locate(262144).bank, 0);
  EXPECT_EQ(mapping.locate(262144).row, 1);
}

TEST(HbmMapping, PartsOfARowMayLieBelowOtherFields) {
  Hbm hbm = *hbm_preset("HBM2_8Gb_x128");
  hbm.controller.mapping = "row bank column bank_group channel";
  hbm.controller.interleave = Bytes(256);
  const HbmMapping mapping(hbm);
  EXPECT_EQ(mapping.locate(256).channel, 1);
  EXPECT_EQ(mapping.locate(256 * 8).bank, 4);
  EXPECT_EQ(mapping.locate(256 * 8 * 4).bank, 0);  // next part of the same row
  EXPECT_EQ(mapping.locate(256 * 8 * 4).row, 0);
  EXPECT_EQ(mapping.locate(256 * 8 * 4 * 8).bank, 1);
}

TEST(HbmMapping, OneChannelSkipsTheOthers) {
  const HbmMapping mapping(*hbm_preset("HBM2_8Gb_x128"));
  EXPECT_EQ(mapping.in_first_channel(2047), 2047u);
  EXPECT_EQ(mapping.in_first_channel(2048), 16384u);
  Hbm other = *hbm_preset("HBM2_8Gb_x128");
  other.controller.mapping = "row channel bank_group bank column";
  EXPECT_THROW((void)HbmMapping(other).in_first_channel(2048), ConfigError);
}

TEST(HbmMapping, NamesEachFieldOnce) {
  EXPECT_TRUE(mapping_order("channel row column bank bank_group"));
  for (const char* wrong : {"", "row", "row bank_group bank column row", "row bank_group bank column rank",
                            "row bank_group bank column channel row"}) {
    EXPECT_FALSE(mapping_order(wrong)) << wrong;
  }
}

TEST(HbmPresets, HaveTheBandwidthOfTheirGeneration) {
  EXPECT_FALSE(hbm_preset("HBM9"));
  for (const std::string& name : hbm_preset_names()) {
    const Hbm hbm = *hbm_preset(name);
    // Four or eight beats of every pin are an atom: the peak of a channel moves one every burst.
    EXPECT_GT(hbm.bandwidth.value(), 100e9) << name;
    EXPECT_GE(hbm.timing.tccd_l.count(), (hbm.atom / (hbm.bandwidth / hbm.channels())).count() * 0.999) << name;
    EXPECT_GT(hbm.timing.trefi, hbm.timing.trfc) << name;
  }
}

}  // namespace
}  // namespace tandem
