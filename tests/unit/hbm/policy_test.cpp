// SPDX-License-Identifier: Apache-2.0
// What the controller's configuration changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/hbm/scheduler_run.h"

namespace tandem::sim {
namespace {

using testing::ElementsAre;

std::vector<std::int32_t> clients(const std::vector<HbmService>& answers) {
  std::vector<std::int32_t> result;
  for (const HbmService& answer : answers) result.push_back(answer.client);
  return result;
}

TEST(HbmPolicy, RowHitsOvertakeAConflictWhileItsRowMayNotBeClosed) {
  HbmTimes times = hbm2();
  const std::vector<HbmPiece> pieces{read_of(0, 0, 2, 0, 1), read_of(0, 1, 2, 0, 2), read_of(0, 0, 2, 0, 3)};
  EXPECT_THAT(clients(run(times, pieces)), ElementsAre(1, 3, 2));
  times.policy.scheduling = HbmScheduling::in_order;
  EXPECT_THAT(clients(run(times, pieces)), ElementsAre(1, 2, 3));
}

TEST(HbmPolicy, ARowIsGivenUpAfterItsHits) {
  HbmTimes times = hbm2();
  // The hit comes when the row may be closed: it goes first as long as the row has not had its hits.
  const std::vector<HbmPiece> pieces{read_of(0, 0, 2, 0, 1), read_of(0, 1, 2, 100, 2), read_of(0, 0, 2, 100, 3)};
  times.policy.row_hits = 1;
  EXPECT_THAT(clients(run(times, pieces)), ElementsAre(1, 2, 3));
}

TEST(HbmPolicy, ClosePageOpensTheRowEveryTime) {
  HbmTimes times = hbm2();
  times.policy.page_policy = PagePolicy::close;
  // A hit costs an activate, a conflict no precharge.
  EXPECT_THAT(firsts(run(times, {read_of(0, 0, 1, 0), read_of(0, 0, 1, 100), read_of(0, 1, 1, 200)})),
              ElementsAre(31, 131, 231));
}

TEST(HbmPolicy, PerBankRefreshLeavesTheOthersOpen) {
  HbmTimes times = hbm2();
  times.policy.refresh = HbmRefresh::per_bank;
  times.refresh_interval /= times.banks();  // 243.75 ns, bank 0 first
  times.refresh_time = nanoseconds(20);
  const auto answers =
      run(times, {read_of(0, 0, 1, 200), read_of(4, 0, 1, 200), read_of(0, 0, 1, 290), read_of(4, 0, 1, 330)});
  // Bank 0 was closed by its refresh, bank 4 was not.
  EXPECT_THAT(firsts(answers), ElementsAre(231, 235, 290 + 31, 330 + 17));
}

TEST(HbmPolicy, BankQueuesAreBounded) {
  HbmTimes times = hbm2();
  HbmQueues queues(times);
  std::vector<HbmService> answers;
  for (std::int64_t row = 0; row < 100; ++row) queues.push(read_of(0, row, 1, 0));
  queues.admit(nanoseconds(0), answers);
  EXPECT_EQ(queues.of_bank(0).size(), 8u);
  EXPECT_EQ(queues.atoms_in_banks(), 8);
  times.policy.bank_queue = 3;
  HbmQueues shallow(times);
  for (std::int64_t row = 0; row < 100; ++row) shallow.push(read_of(row % 2 == 0 ? 0 : 5, row, 1, 0));
  shallow.admit(nanoseconds(0), answers);
  EXPECT_EQ(shallow.atoms_in_banks(), 6);
}

TEST(HbmPolicy, AFullReadQueueHoldsOtherBanksBack) {
  const HbmTimes times = hbm2();
  HbmQueues queues(times);
  std::vector<HbmService> answers;
  // 8 in the bank's queue and 32 before it: the 41st is still at the port, and what is behind it too.
  for (std::int64_t row = 0; row < 41; ++row) queues.push(read_of(0, row, 1, 0));
  queues.push(read_of(7, 0, 1, 0));
  queues.admit(nanoseconds(0), answers);
  EXPECT_TRUE(queues.of_bank(7).empty());
  // Of two that leave, both follow.
  queues.take(0, 0, 1);
  queues.take(0, 0, 1);
  queues.admit(nanoseconds(1), answers);
  EXPECT_EQ(queues.of_bank(7).size(), 1u);
}

TEST(HbmPolicy, WritesAreTakenWhileThereIsRoom) {
  const HbmTimes times = hbm2();
  HbmQueues queues(times);
  std::vector<HbmService> answers;
  for (std::int64_t row = 0; row < 100; ++row) queues.push(write_of(0, row, 1, 0));
  queues.admit(nanoseconds(0), answers);
  // A full write queue drains: 8 go on to the bank, 8 more come in.
  EXPECT_EQ(answers.size(), 40u);
  EXPECT_EQ(queues.atoms_in_banks(), 8);
}

TEST(HbmPolicy, FewWritesStayInTheirQueue) {
  HbmScheduler scheduler(hbm2());
  run(scheduler, {write_of(0, 0, 8, 0)});
  EXPECT_EQ(scheduler.stats().write_atoms, 0);
  run(scheduler, {write_of(0, 0, 1, 21000)});  // one more than the mark, and the banks are idle
  EXPECT_EQ(scheduler.stats().write_atoms, 9);
}

}  // namespace
}  // namespace tandem::sim
