// SPDX-License-Identifier: Apache-2.0
#include "search/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "arch/support/error.h"

namespace tandem {
namespace {

using Outcome = WorkerReply::Outcome;
using testing::HasSubstr;
using namespace std::chrono_literals;

std::string obey(const std::string& request) {
  if (request == "throw") throw std::runtime_error("as told");
  if (request == "cannot") throw InfeasibleError("does not fit");
  if (request == "crash") {
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  }
  if (request == "abort") {
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  if (request == "exit") ::_exit(7);
  if (request == "hang") std::this_thread::sleep_for(1h);
  if (request == "long") return std::string(3'000'000, 'x');
  return request + "!";
}

TEST(WorkerPool, AnswersByPosition) {
  std::vector<std::string> requests;
  for (int i = 0; i < 200; ++i) requests.push_back(std::to_string(i));
  for (const int workers : {1, 3}) {
    WorkerPool pool(workers, obey);
    const auto replies = pool.run(requests);
    ASSERT_EQ(replies.size(), requests.size());
    for (std::size_t i = 0; i < replies.size(); ++i) {
      EXPECT_EQ(replies[i].outcome, Outcome::done);
      EXPECT_EQ(replies[i].text, requests[i] + "!");
    }
  }
}

TEST(WorkerPool, LongAnswersAndEmptyRequests) {
  WorkerPool pool(2, obey);
  const auto replies = pool.run({"long", "", "long"});
  EXPECT_EQ(replies[0].text.size(), 3'000'000U);
  EXPECT_EQ(replies[1].text, "!");
  EXPECT_TRUE(pool.run({}).empty());
}

TEST(WorkerPool, WhatGoesWrongCostsItsOwnRequestOnly) {
  WorkerPool pool(2, obey);
  const auto replies = pool.run({"a", "crash", "throw", "cannot", "exit", "abort", "b", "c"});
  EXPECT_EQ(replies[0].text, "a!");
  EXPECT_EQ(replies[1].outcome, Outcome::died);
  EXPECT_THAT(replies[1].text, HasSubstr("signal 11"));
  EXPECT_EQ(replies[2].outcome, Outcome::failed);
  EXPECT_EQ(replies[2].text, "as told");
  EXPECT_EQ(replies[3].outcome, Outcome::infeasible);
  EXPECT_EQ(replies[3].text, "does not fit");
  EXPECT_THAT(replies[4].text, HasSubstr("status 7"));
  EXPECT_THAT(replies[5].text, HasSubstr("signal 6"));
  EXPECT_EQ(replies[6].text, "b!");
  EXPECT_EQ(replies[7].text, "c!");
  EXPECT_EQ(pool.run({"again"})[0].text, "again!");
}

TEST(WorkerPool, AHangEndsAtTheLimit) {
  WorkerPool pool(1, obey);
  WorkerWatch watch;
  watch.limit = 200ms;
  const auto replies = pool.run({"hang", "a"}, watch);
  EXPECT_EQ(replies[0].outcome, Outcome::timed_out);
  EXPECT_THAT(replies[0].text, HasSubstr("limit"));
  EXPECT_EQ(replies[1].text, "a!");
}

TEST(WorkerPool, CancellingKeepsWhatWasAnswered) {
  WorkerPool pool(1, obey);
  int answered = 0;
  WorkerWatch watch;
  watch.replied = [&answered](std::size_t, const WorkerReply&) { ++answered; };
  watch.cancelled = [&answered] { return answered > 0; };
  const auto replies = pool.run({"a", "hang", "b"}, watch);
  EXPECT_EQ(replies[0].text, "a!");
  EXPECT_EQ(replies[1].outcome, Outcome::cancelled);
  EXPECT_EQ(replies[2].outcome, Outcome::cancelled);
  EXPECT_EQ(answered, 1);
  EXPECT_EQ(pool.run({"again"})[0].text, "again!");
}

TEST(WorkerPool, ALostPoolLeavesNoProcessBehind) {
  { WorkerPool pool(4, obey); }
  EXPECT_EQ(::waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace tandem
