// SPDX-License-Identifier: Apache-2.0
// Each timing rule alone, against a time line worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/hbm/scheduler_run.h"

namespace tandem::sim {
namespace {

using testing::ElementsAre;

TEST(HbmScheduler, ClosedRowOpensFirst) {
  // Seen a clock after it came, tRCD, CL, burst: the 31 clocks that DRAMsim3 needs.
  EXPECT_THAT(firsts(run(hbm2(), {read_of(0, 0, 1, 0)})), ElementsAre(1 + 14 + 14 + 2));
}

TEST(HbmScheduler, RowHitGoesStraightToTheColumn) {
  EXPECT_THAT(firsts(run(hbm2(), {read_of(0, 0, 1, 0), read_of(0, 0, 1, 100)})), ElementsAre(31, 100 + 1 + 14 + 2));
}

TEST(HbmScheduler, RowConflictClosesFirst) {
  EXPECT_THAT(firsts(run(hbm2(), {read_of(0, 0, 1, 0), read_of(0, 1, 1, 100)})), ElementsAre(31, 100 + 31 + 14));
}

TEST(HbmScheduler, ARowStaysOpenForTras) {
  // Opened at 1: closed at 1 + tRAS, next column tRP + tRCD later.
  EXPECT_THAT(firsts(run(hbm2(), {read_of(0, 0, 1, 0), read_of(0, 1, 1, 1)})), ElementsAre(31, 35 + 14 + 14 + 16));
}

TEST(HbmScheduler, AtomsOfAPieceFollowEachOther) {
  const auto answers = run(hbm2(), {read_of(0, 0, 16, 0)});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].atoms, 16);
  EXPECT_EQ(answers[0].step, nanoseconds(2));
}

TEST(HbmScheduler, ActivatesKeepTrrd) {
  EXPECT_THAT(firsts(run(hbm2(), {read_of(0, 0, 1, 0), read_of(4, 0, 1, 0)})), ElementsAre(31, 31 + 4));
  EXPECT_THAT(firsts(run(hbm2(), {read_of(0, 0, 1, 0), read_of(1, 0, 1, 0)})), ElementsAre(31, 31 + 6));
}

TEST(HbmScheduler, FourActivatesKeepTfaw) {
  std::vector<HbmPiece> pieces;
  for (const std::int32_t bank : {0, 4, 8, 12, 1}) pieces.push_back(read_of(bank, 0, 1, 0));
  // The port takes one atom a clock, so the last is seen at 5: tFAW is what it waits for.
  EXPECT_THAT(firsts(run(hbm2(), pieces)), ElementsAre(31, 35, 39, 43, 31 + 30));
}

TEST(HbmScheduler, OneBankGroupKeepsTccdLong) {
  const HbmTimes times = hbm2("HBM_4Gb_x128");  // burst 4 ns, tCCD_L 6 ns
  const auto end = [](const std::vector<HbmService>& answers) {
    Picoseconds last{};
    for (const HbmService& answer : answers) last = std::max(last, answer.first + answer.step * (answer.atoms - 1));
    return last;
  };
  const auto answers = run(times, {read_of(0, 0, 8, 0)});
  EXPECT_EQ(answers[0].step, nanoseconds(6));
  const Picoseconds one_group = end(run(times, {read_of(0, 0, 32, 0), read_of(1, 0, 32, 0)}));
  const Picoseconds two_groups = end(run(times, {read_of(0, 0, 32, 0), read_of(4, 0, 32, 0)}));
  EXPECT_GE(one_group - answers[0].first, nanoseconds(63 * 6));
  EXPECT_LE(two_groups - answers[0].first, nanoseconds(63 * 4 + 2 * 8 * 6));
}

TEST(HbmScheduler, RefreshClosesAllRows) {
  // Refresh at 3900; a row opened before is gone.
  const auto answers = run(hbm2(), {read_of(0, 0, 1, 3000), read_of(0, 0, 1, 3901)});
  EXPECT_THAT(firsts(answers), ElementsAre(3031, 3900 + 14 + 260 + 14 + 16));
}

TEST(HbmScheduler, RefreshCutsARunningPiece) {
  // Columns at 3895, 3897, 3899; closed at 3881 + tRAS.
  const auto answers = run(hbm2(), {read_of(0, 0, 16, 3880)});
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].atoms, 3);
  EXPECT_EQ(answers[0].first, nanoseconds(3895 + 16));
  EXPECT_EQ(answers[1].atoms, 13);
  EXPECT_EQ(answers[1].first, nanoseconds(3881 + 34 + 14 + 260 + 14 + 16));
}

TEST(HbmScheduler, TurningTheBusCosts) {
  HbmScheduler scheduler(hbm2());
  const auto answers = run(scheduler, {read_of(0, 0, 1, 0), write_of(0, 0, 32, 100), read_of(0, 0, 1, 110)});
  // 32 writes from 101, the last at 163: CWL + burst + tWTR_L until the next read's column.
  EXPECT_THAT(firsts(answers), ElementsAre(31, 163 + 4 + 2 + 8 + 16));
  EXPECT_EQ(scheduler.stats().turnarounds, 2);
}

TEST(HbmScheduler, AWriteWaitsForTheReadsData) {
  HbmScheduler scheduler(hbm2());
  // The read's column is at 115: the first write comes 14 later, and the last of 32 ends the wait of the second read.
  const auto answers = run(scheduler, {read_of(0, 0, 1, 100), write_of(0, 0, 32, 101), read_of(0, 0, 1, 125)});
  EXPECT_THAT(firsts(answers), ElementsAre(131, 115 + 14 + 62 + 4 + 2 + 8 + 16));
}

TEST(HbmScheduler, NothingWaitingMeansNever) {
  HbmScheduler scheduler(hbm2());
  EXPECT_EQ(scheduler.next(), HbmScheduler::kNever);
  scheduler.push(read_of(0, 0, 1, 0));
  EXPECT_EQ(scheduler.next(), nanoseconds(15));  // its column
  scheduler.advance(nanoseconds(15));
  EXPECT_EQ(scheduler.next(), HbmScheduler::kNever);
}

TEST(HbmScheduler, OneDecisionPerRowPiece) {
  HbmScheduler scheduler(hbm2());
  std::vector<HbmPiece> pieces;
  for (std::int32_t i = 0; i < 32; ++i) pieces.push_back(read_of(i % 16, i / 16, 32, i));
  run(scheduler, pieces);
  EXPECT_EQ(scheduler.stats().read_atoms, 32 * 32);
  EXPECT_EQ(scheduler.stats().decisions, 32);
  EXPECT_EQ(scheduler.stats().activates, 32);
}

}  // namespace
}  // namespace tandem::sim
