// SPDX-License-Identifier: Apache-2.0
#include "workloads/pipeline.h"

#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace tandem {
namespace {

constexpr auto kGpipe = PipelineSchedule::gpipe;
constexpr auto kOneF = PipelineSchedule::one_f_one_b;
constexpr auto kInterleaved = PipelineSchedule::interleaved;
constexpr auto kZeroBubble = PipelineSchedule::zb_h1;

std::string text(const std::vector<PipelineTask>& tasks) {
  std::string out;
  for (const PipelineTask& task : tasks) {
    out += task.kind == TaskKind::forward ? 'F' : task.kind == TaskKind::backward ? 'B' : 'W';
    out += std::to_string(task.microbatch);
    if (task.chunk > 0) out += '.' + std::to_string(task.chunk);
    out += ' ';
  }
  return out;
}

TEST(PipelineTasks, GpipeDoesAllForwardsFirst) {
  EXPECT_EQ(text(pipeline_tasks(kGpipe, 2, 0, 3)), "F0 F1 F2 B0 B1 B2 ");
}

TEST(PipelineTasks, OneForwardOneBackwardWarmsUpByDistanceFromTheEnd) {
  EXPECT_EQ(text(pipeline_tasks(kOneF, 3, 0, 4)), "F0 F1 F2 B0 F3 B1 B2 B3 ");
  EXPECT_EQ(text(pipeline_tasks(kOneF, 3, 2, 4)), "F0 B0 F1 B1 F2 B2 F3 B3 ");
}

TEST(PipelineTasks, InterleavedFollowsMegatron) {
  EXPECT_EQ(text(pipeline_tasks(kInterleaved, 2, 1, 4, 2)),
            "F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3 ");
}

TEST(PipelineTasks, ZeroBubblePutsWeightsOffByTheStage) {
  EXPECT_EQ(text(pipeline_tasks(kZeroBubble, 3, 0, 4)), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3 ");
  EXPECT_EQ(text(pipeline_tasks(kZeroBubble, 3, 2, 4)), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3 ");
}

TEST(PipelineTasks, EveryMicrobatchRunsOnceEachWay) {
  for (const std::int64_t chunks : {1, 2, 3}) {
    for (std::int64_t stage = 0; stage < 4; ++stage) {
      std::set<std::tuple<TaskKind, std::int64_t, std::int64_t>> seen;
      const auto tasks = pipeline_tasks(kInterleaved, 4, stage, 8, chunks);
      for (const PipelineTask& task : tasks) seen.insert({task.kind, task.microbatch, task.chunk});
      EXPECT_EQ(seen.size(), tasks.size());
      EXPECT_EQ(static_cast<std::int64_t>(tasks.size()), 2 * 8 * chunks);
    }
  }
}

TEST(PipelineTasks, RefusesWhatCannotBeScheduled) {
  EXPECT_THROW(pipeline_tasks(kInterleaved, 4, 0, 6, 2), std::invalid_argument);
  EXPECT_THROW(pipeline_tasks(kOneF, 4, 0, 6, 2), std::invalid_argument);
  EXPECT_THROW(pipeline_tasks(kOneF, 4, 4, 6), std::invalid_argument);
}

TEST(InFlight, CountsHeldActivations) {
  for (const PipelineSchedule schedule : {kGpipe, kOneF, kInterleaved, kZeroBubble}) {
    const std::int64_t chunks = schedule == kInterleaved ? 2 : 1;
    const TaskKind last = schedule == kZeroBubble ? TaskKind::weight : TaskKind::backward;
    for (std::int64_t stage = 0; stage < 4; ++stage) {
      for (const std::int64_t microbatches : {4, 8, 16}) {
        std::int64_t held = 0;
        std::int64_t most = 0;
        for (const PipelineTask& task : pipeline_tasks(schedule, 4, stage, microbatches, chunks)) {
          held += task.kind == TaskKind::forward ? 1 : task.kind == last ? -1 : 0;
          most = std::max(most, held);
        }
        EXPECT_EQ(in_flight(schedule, 4, stage, microbatches, chunks), most);
      }
    }
  }
}

TEST(PipelineTime, BubbleEqualsTheClosedFormForEvenStages) {
  for (const PipelineSchedule schedule : {kGpipe, kOneF, kInterleaved}) {
    for (const std::int64_t stages : {1, 2, 4, 8}) {
      for (const std::int64_t microbatches : {8, 16, 32}) {
        const std::int64_t chunks = schedule == kInterleaved ? 2 : 1;
        const std::vector<StageTimes> even(static_cast<std::size_t>(stages * chunks),
                                           {Seconds(1), Seconds(2), Seconds(0), Seconds(0)});
        const PipelineTime time = pipeline_time(schedule, microbatches, chunks, even);
        const double useful = 3.0 * static_cast<double>(microbatches * chunks);
        EXPECT_NEAR(time.total.count(), useful * (1 + bubble_fraction(schedule, stages, microbatches, chunks)), 1e-9)
            << name_of(schedule) << ' ' << stages << ' ' << microbatches;
      }
    }
  }
}

// (p - 1)(F + B - W) for any times with W no longer than F or B: Qi et al., arXiv 2401.10241, table 1.
TEST(PipelineTime, ZeroBubbleEqualsTheClosedForm) {
  for (const std::int64_t stages : {1, 2, 4, 8}) {
    for (const std::int64_t microbatches : {8, 16, 32}) {
      for (const auto& [f, b, w] : {std::tuple(1.0, 1.0, 1.0), {2.0, 3.0, 2.0}, {2.0, 2.0, 1.0}, {3.0, 4.0, 2.5}}) {
        const std::vector<StageTimes> even(static_cast<std::size_t>(stages),
                                           {.forward = Seconds(f), .backward = Seconds(b), .weight = Seconds(w)});
        const auto p = static_cast<double>(stages - 1);
        EXPECT_NEAR(pipeline_time(kZeroBubble, microbatches, 1, even).total.count(),
                    static_cast<double>(microbatches) * (f + b + w) + p * (f + b - w), 1e-9)
            << stages << ' ' << microbatches;
      }
      const std::vector<StageTimes> alike(static_cast<std::size_t>(stages),
                                          {.forward = Seconds(1), .backward = Seconds(1), .weight = Seconds(1)});
      EXPECT_NEAR(pipeline_time(kZeroBubble, microbatches, 1, alike).total.count(),
                  3.0 * static_cast<double>(microbatches) * (1 + bubble_fraction(kZeroBubble, stages, microbatches)),
                  1e-9);
    }
  }
}

// GPipe on two stages: each of m forwards but the last stage's, and each of m backwards but the first stage's, holds
// its device for a send of c: (m + 1)(tf + tb) + 2 m c.
TEST(PipelineTime, BlockingSendsHoldTheSender) {
  std::vector<StageTimes> stages(2, {Seconds(1), Seconds(2), Seconds(0.25), Seconds(0.25)});
  stages[0].held_forward = stages[1].held_backward = Seconds(0.25);
  for (const std::int64_t m : {1, 4, 40}) {
    EXPECT_NEAR(pipeline_time(kGpipe, m, 1, stages).total.count(),
                static_cast<double>(m + 1) * 3 + 2.0 * static_cast<double>(m) * 0.25, 1e-9)
        << m;
  }
}

// GPipe with a send of c between stages: (m + p - 1)(tf + tb) + 2(p - 1)c.
TEST(PipelineTime, GpipeSendsShowOncePerStage) {
  const std::vector<StageTimes> even(4, {Seconds(1), Seconds(2), Seconds(0.25), Seconds(0.25)});
  EXPECT_NEAR(pipeline_time(kGpipe, 8, 1, even).total.count(), (8 + 3) * 3 + 2 * 3 * 0.25, 1e-12);
}

TEST(PipelineTime, TheSlowestStageSetsThePace) {
  std::vector<StageTimes> stages(4, {Seconds(1), Seconds(1), Seconds(0), Seconds(0)});
  stages[2].forward = Seconds(3);
  const double time = pipeline_time(kOneF, 100, 1, stages).total.count();
  EXPECT_GE(time, 100 * 4.0);
  EXPECT_LE(time, 100 * 4.0 + 20);
}

}  // namespace
}  // namespace tandem
