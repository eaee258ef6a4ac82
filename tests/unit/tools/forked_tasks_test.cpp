// SPDX-License-Identifier: Apache-2.0
#include "tools/forked_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <thread>

namespace tandem {
namespace {

using testing::HasSubstr;

std::string square(std::size_t i) { return std::to_string(i * i); }

TEST(ForkedTasks, OutcomesAreByIndexWhateverTheNumberOfWorkers) {
  for (const int jobs : {1, 2, 7}) {
    ForkedOptions options;
    options.jobs = jobs;
    const auto outcomes = run_forked(20, square, options);
    ASSERT_EQ(outcomes.size(), 20U);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      EXPECT_TRUE(outcomes[i].ok);
      EXPECT_EQ(outcomes[i].text, std::to_string(i * i));
    }
  }
}

TEST(ForkedTasks, LargeResultsComeWhole) {
  const std::string large(std::size_t{3} << 20, 'x');
  const auto outcomes = run_forked(2, [&](std::size_t) { return large; }, {});
  EXPECT_EQ(outcomes[0].text, large);
  EXPECT_EQ(outcomes[1].text, large);
}

TEST(ForkedTasks, ACrashCostsOneTask) {
  const auto task = [](std::size_t i) -> std::string {
    if (i == 1) ::raise(SIGSEGV);
    if (i == 2) throw std::runtime_error("no such thing");
    if (i == 3) _exit(9);
    return square(i);
  };
  ForkedOptions options;
  options.jobs = 2;
  const auto outcomes = run_forked(6, task, options);
  EXPECT_TRUE(outcomes[0].ok);
  EXPECT_FALSE(outcomes[1].ok);
  EXPECT_THAT(outcomes[1].text, HasSubstr("signal 11"));
  EXPECT_FALSE(outcomes[2].ok);
  EXPECT_EQ(outcomes[2].text, "no such thing");
  EXPECT_FALSE(outcomes[3].ok);
  EXPECT_THAT(outcomes[3].text, HasSubstr("status 9"));
  EXPECT_TRUE(outcomes[4].ok);
  EXPECT_EQ(outcomes[5].text, "25");
}

TEST(ForkedTasks, AHangIsEnded) {
  ForkedOptions options;
  options.limit = std::chrono::seconds(1);
  const auto task = [](std::size_t i) {
    if (i == 0) std::this_thread::sleep_for(std::chrono::minutes(5));
    return square(i);
  };
  const auto outcomes = run_forked(2, task, options);
  EXPECT_FALSE(outcomes[0].ok);
  EXPECT_THAT(outcomes[0].text, HasSubstr("longer than 1 s"));
  EXPECT_TRUE(outcomes[1].ok);
}

TEST(ForkedTasks, CancellingKeepsWhatIsDone) {
  std::size_t finished = 0;
  ForkedOptions options;
  options.done = [&](std::size_t done) { finished = done; };
  options.cancelled = [&] { return finished >= 1; };
  const auto task = [](std::size_t i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::minutes(5));
    return square(i);
  };
  const auto outcomes = run_forked(3, task, options);
  EXPECT_TRUE(outcomes[0].ok);
  EXPECT_FALSE(outcomes[1].ok);
  EXPECT_EQ(outcomes[2].text, "cancelled");
}

TEST(ForkedTasks, NothingToDo) { EXPECT_TRUE(run_forked(0, square, {}).empty()); }

}  // namespace
}  // namespace tandem
