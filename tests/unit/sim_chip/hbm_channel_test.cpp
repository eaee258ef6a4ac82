// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_channel.h"

#include <gtest/gtest.h>

namespace tandem::sim {
namespace {

using std::chrono::nanoseconds;

Path at(std::int64_t ns, std::int32_t op = 0) {
  Path path;
  path.at = nanoseconds(ns);
  path.op = op;
  return path;
}

/// 16 B/ns, rows of 64 B; 30 ns to the first data.
HbmChannelSpec spec() {
  HbmChannelSpec spec;
  spec.rate = Rate(Bandwidth(16e9));
  spec.atom = Bytes(32);
  spec.page = Bytes(64);
  spec.access = nanoseconds(30);
  spec.write_to_read = nanoseconds(8);
  spec.read_to_write = nanoseconds(5);
  return spec;
}

TEST(HbmChannel, FirstAccessPaysTheRowThenStreams) {
  HbmChannel channel(spec());
  const auto service = channel.serve(Access::read, Bytes(320), at(100));
  EXPECT_EQ(service.begin, nanoseconds(130));
  EXPECT_EQ(service.done.at, nanoseconds(150));
  EXPECT_EQ(service.done.causes[Cause::hbm_overhead], nanoseconds(30));
  EXPECT_EQ(service.done.causes[Cause::hbm_bandwidth], nanoseconds(20));
  EXPECT_EQ(channel.stats().rows, 5);
}

TEST(HbmChannel, RoundsUpToAtoms) {
  HbmChannel channel(spec());
  EXPECT_EQ(channel.serve(Access::read, Bytes(33), at(0)).done.at, nanoseconds(34));
  EXPECT_EQ(channel.stats().read, Bytes(64));
}

TEST(HbmChannel, BacklogHidesTheRow) {
  HbmChannel channel(spec());
  channel.serve(Access::read, Bytes(1600), at(0));  // 30 .. 130
  const auto second = channel.serve(Access::read, Bytes(160), at(10));
  EXPECT_EQ(second.done.at, nanoseconds(140));
}

TEST(HbmChannel, TurningTheBusCosts) {
  HbmChannel channel(spec());
  channel.serve(Access::read, Bytes(1600), at(0));                                        // .. 130
  EXPECT_EQ(channel.serve(Access::write, Bytes(160), at(10)).done.at, nanoseconds(145));  // + 5 + 10
  EXPECT_EQ(channel.serve(Access::read, Bytes(160), at(10)).done.at, nanoseconds(163));   // + 8 + 10
  EXPECT_EQ(channel.stats().turnarounds, 2);
}

TEST(HbmChannel, RowsCloserThanTheBanksAllowTakeTheirInterval) {
  HbmChannelSpec slow = spec();
  slow.row_interval = nanoseconds(10);  // data of a row: 4 ns
  HbmChannel channel(slow);
  EXPECT_EQ(channel.serve(Access::read, Bytes(640), at(0)).done.at, nanoseconds(30 + 100));
}

TEST(HbmChannel, RefreshStopsTheBus) {
  HbmChannelSpec refreshed = spec();
  refreshed.refresh_interval = nanoseconds(1000);
  refreshed.refresh_time = nanoseconds(200);
  refreshed.refresh_offset = nanoseconds(100);
  const HbmChannel channel(refreshed);
  EXPECT_EQ(channel.finish(nanoseconds(0), nanoseconds(100)), nanoseconds(100));
  EXPECT_EQ(channel.finish(nanoseconds(0), nanoseconds(101)), nanoseconds(301));
  EXPECT_EQ(channel.finish(nanoseconds(150), nanoseconds(10)), nanoseconds(310));
  // 800 ns of every 1000 can be used.
  EXPECT_EQ(channel.finish(nanoseconds(300), nanoseconds(8000)), nanoseconds(300 + 9 * 1000 + 800));
  EXPECT_EQ(channel.finish(nanoseconds(300), nanoseconds(8001)), nanoseconds(300 + 10 * 1000 + 1));
}

TEST(HbmChannel, FullQueueHoldsTheNextPieceBack) {
  HbmChannelSpec shallow = spec();
  shallow.queue_depth = 2;
  HbmChannel channel(shallow);
  EXPECT_EQ(channel.serve(Access::read, Bytes(160), at(0)).admitted, nanoseconds(0));  // done at 40
  EXPECT_EQ(channel.serve(Access::read, Bytes(160), at(0)).admitted, nanoseconds(0));  // done at 50
  EXPECT_EQ(channel.serve(Access::read, Bytes(160), at(0)).admitted, nanoseconds(40));
  EXPECT_EQ(channel.serve(Access::read, Bytes(160), at(60)).admitted, nanoseconds(60));
}

TEST(HbmChannel, WaitingBehindAnotherOperatorIsADependency) {
  HbmChannel channel(spec());
  channel.serve(Access::read, Bytes(1600), at(0, 0));  // .. 130
  const Path done = channel.serve(Access::read, Bytes(160), at(110, 1)).done;
  EXPECT_EQ(done.at, nanoseconds(150));  // row open at 140
  EXPECT_EQ(done.causes[Cause::hbm_overhead], nanoseconds(30));
  const Path behind = channel.serve(Access::read, Bytes(160), at(110, 2)).done;
  EXPECT_EQ(behind.causes[Cause::dependency], nanoseconds(40));
  EXPECT_EQ(behind.causes[Cause::hbm_bandwidth], nanoseconds(10));
}

TEST(HbmChannel, PeakRateIsThatOfTheChip) {
  Hbm hbm;
  hbm.stacks = 2;
  hbm.channels_per_stack = 4;
  hbm.bandwidth = Bandwidth(128e9);
  hbm.atom = Bytes(32);
  EXPECT_EQ(make_channel_spec(hbm, 0).rate.time(Bytes(1600)), nanoseconds(100));
  // Columns of a lone bank group cannot follow each other that fast.
  hbm.timing.tccd_l = Seconds(4e-9);
  hbm.timing.bank_groups = 1;
  const Picoseconds slow = make_channel_spec(hbm, 0).rate.time(Bytes(1600));
  EXPECT_GE(slow, nanoseconds(200));
  EXPECT_LE(slow, nanoseconds(200) + Picoseconds(1));
}

}  // namespace
}  // namespace tandem::sim
