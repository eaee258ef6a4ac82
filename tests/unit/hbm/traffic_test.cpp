// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "arch/hbm_presets.h"
#include "arch/support/error.h"
#include "sim/hbm_simulation.h"

namespace tandem {
namespace {

const Hbm kMemory = *hbm_preset("HBM2_8Gb_x128");

HbmTraffic traffic(HbmPattern pattern) {
  HbmTraffic result;
  result.pattern = pattern;
  result.window = Bytes(65536);
  return result;
}

std::vector<std::uint64_t> addresses(const HbmTraffic& traffic, int count) {
  HbmAddressStream stream(kMemory, traffic, 0);
  std::vector<std::uint64_t> result;
  for (int i = 0; i < count; ++i) result.push_back(stream.next().address);
  return result;
}

TEST(HbmTraffic, TilesFollowEachOtherAlongABand) {
  HbmTraffic tiles = traffic(HbmPattern::tiles);
  tiles.tile_rows = 2;
  tiles.tile_row = Bytes(256);
  tiles.tile_pitch = Bytes(512);
  EXPECT_EQ(addresses(tiles, 6), (std::vector<std::uint64_t>{0, 512, 256, 768, 1024, 1536}));
}

TEST(HbmTraffic, CopiesReadThenWrite) {
  HbmTraffic copy = traffic(HbmPattern::copy);
  copy.destination_offset = Bytes(1 << 20);
  EXPECT_EQ(addresses(copy, 4), (std::vector<std::uint64_t>{0, 1 << 20, 256, (1 << 20) + 256}));
}

TEST(HbmTraffic, LockstepTakesOneOfEachStream) {
  HbmTraffic streams = traffic(HbmPattern::lockstep);
  streams.streams = 2;
  streams.stream_offset = Bytes(1 << 20);
  EXPECT_EQ(addresses(streams, 4), (std::vector<std::uint64_t>{0, 1 << 20, 256, (1 << 20) + 256}));
}

TEST(HbmTraffic, RefusesWhatCannotRun) {
  HbmTraffic none = traffic(HbmPattern::sequential);
  none.window = Bytes(0);
  EXPECT_THROW(check_traffic(kMemory, none), ConfigError);
  EXPECT_THROW(check_traffic(kMemory, traffic(HbmPattern::strided)), ConfigError);
  EXPECT_THROW(check_traffic(kMemory, traffic(HbmPattern::tiles)), ConfigError);
  Hbm no_rows = kMemory;
  no_rows.timing.page = Bytes(0);
  EXPECT_THROW(check_traffic(no_rows, traffic(HbmPattern::random)), ConfigError);
  EXPECT_THROW((void)simulate_hbm(kMemory, traffic(HbmPattern::random), Seconds(0), Seconds(0)), ConfigError);
}

TEST(HbmTraffic, OneAtATimeWaitsForTheGap) {
  HbmTraffic idle = traffic(HbmPattern::random);
  idle.request = idle.window = Bytes(64);
  idle.one_at_a_time = true;
  idle.gap = Seconds(100e-9);
  const HbmMeasurement measured = simulate_hbm(kMemory, idle, Seconds(0), Seconds(100e-6));
  const double period = 64 / measured.bandwidth.value();
  EXPECT_NEAR(period, measured.read_latency.count() + 100e-9, 2e-9);
}

}  // namespace
}  // namespace tandem
