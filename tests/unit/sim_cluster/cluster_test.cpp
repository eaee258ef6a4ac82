// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sim/cluster/cluster_simulation.h"
#include "sim/cluster/iteration_answer.h"
#include "tests/unit/sim_cluster/cases.h"
#include "workloads/pipeline.h"

namespace tandem {
namespace {

using namespace testing;
using ::testing::HasSubstr;

Cluster star(std::int64_t devices, double rate = 100e9) {
  return make_cluster({make_level(LevelKind::switched, {devices}, rate, 1us)});
}

ClusterRun run(const Cluster& cluster, const Case& given, const SimulationOptions& options = {},
               Aggregation aggregation = Aggregation::exclusive_collectives) {
  return run_cluster(cluster, given.program, given.slices, options, {.aggregation = aggregation});
}

Bytes carried(const ClusterRun& run) {
  Bytes total{};
  for (const LinkUse& link : run.links) total += link.bytes;
  return total;
}

TEST(Cluster, OneDeviceTakesTheSumOfItsWork) {
  const Case given = make_case({.global_batch = 8}, 100us, 200us, 3);
  const ClusterRun played = run(star(1), given);
  EXPECT_EQ(played.time, 8 * 3 * 300us + 10us);
  EXPECT_EQ(played.stages[0].first.forward, 8 * 3 * 100us);
  EXPECT_EQ(played.stages[0].first.by_cause[Cause::compute], played.time);
}

TEST(Cluster, PipelineHasTheIdealBubble) {
  SimulationOptions ideal_links;
  ideal_links.ideal.links = true;
  for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b}) {
    const Case given = make_case({.pp = 4, .global_batch = 8, .schedule = schedule}, 100us, 200us);
    const ClusterRun played = run(star(4), given, ideal_links);
    // (m + p - 1) (f + b); a message over ideal links is a picosecond.
    EXPECT_NEAR(static_cast<double>(played.time.count()), 11 * 300e6 + 10e6, 50) << name_of(schedule);
    EXPECT_NEAR(static_cast<double>(played.stages[0].first.by_cause[Cause::bubble].count()), 3 * 300e6, 50);
  }
}

// (p - 1)(F + B - W): Qi et al., arXiv 2401.10241, table 1.
TEST(Cluster, ZeroBubbleHasItsIdealBubble) {
  SimulationOptions ideal_links;
  ideal_links.ideal.links = true;
  Case given = make_case({.pp = 4, .global_batch = 8, .schedule = PipelineSchedule::zb_h1}, 100us, 150us);
  given.program.layers[0].weight = {ComputeStep{3}};
  given.slices.push_back(compute_slice("weight", 80us));
  given.program.slices.push_back({.name = "weight", .graph = {}, .mappings = {}, .schedule = {}});
  const ClusterRun played = run(star(4), given, ideal_links);
  EXPECT_NEAR(static_cast<double>(played.time.count()), 8 * 330e6 + 3 * (100e6 + 150e6 - 80e6) + 10e6, 50);
}

struct ScheduleCase {
  PipelineSchedule schedule;
  std::int64_t virtual_stages;
  bool blocking_sends = false;
};
class Schedules : public ::testing::TestWithParam<ScheduleCase> {};

TEST_P(Schedules, UnequalStagesEqualTheClosedForm) {
  const Degrees plan{.pp = 4,
                     .global_batch = 8,
                     .schedule = GetParam().schedule,
                     .virtual_stages = GetParam().virtual_stages,
                     .blocking_sends = GetParam().blocking_sends};
  Case given = make_case(plan, 100us, 200us);
  send_between_stages(given.program, 1'000'000);
  std::vector<StageTimes> times;
  for (std::size_t i = 0; i < given.program.stages.size(); ++i) {
    const auto layers = static_cast<std::int64_t>(1 + i % 3);
    given.program.stages[i].layers[0].count = layers;
    given.program.stages[i].after.clear();
    times.push_back({.forward = layers * 100us,
                     .backward = layers * 200us,
                     .send_forward = given.program.stages[i].send_forward / Bandwidth(100e9) + 5us,
                     .send_backward = given.program.stages[i].send_backward / Bandwidth(100e9) + 5us});
  }
  for (std::size_t i = 0; i < times.size() && plan.blocking_sends; ++i) {
    if (i + 1 < times.size()) times[i].held_forward = times[i].send_forward;
    if (i > 0) times[i].held_backward = times[i].send_backward;
  }
  Cluster cluster = star(4);
  cluster.overhead.send = 3us;  // and twice 1 us of latency
  const PipelineTime closed = pipeline_time(plan.schedule, plan.global_batch, plan.virtual_stages, times);
  EXPECT_NEAR(to_seconds(run(cluster, given).time).count() / closed.total.count(), 1, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, Schedules,
                         ::testing::Values(ScheduleCase{PipelineSchedule::gpipe, 1},
                                           ScheduleCase{PipelineSchedule::one_f_one_b, 1},
                                           ScheduleCase{PipelineSchedule::interleaved, 2},
                                           ScheduleCase{PipelineSchedule::zb_h1, 1},
                                           ScheduleCase{PipelineSchedule::gpipe, 1, true},
                                           ScheduleCase{PipelineSchedule::one_f_one_b, 1, true},
                                           ScheduleCase{PipelineSchedule::interleaved, 2, true}));

TEST(Cluster, TensorParallelCollectiveIsPartOfItsLayer) {
  Case given = make_case({.tp = 4, .global_batch = 2}, 100us, 200us);
  given.program.layers[0].forward.push_back(call(Axis::tensor, CollectiveKind::all_reduce, 4'000'000));
  const ClusterRun played = run(star(4), given);
  // 6 steps of 1 MB at 100 GB/s and two hops of 1 us.
  const Picoseconds collective = 6 * (10us + 2us);
  EXPECT_NEAR(static_cast<double>(played.time.count()), static_cast<double>((2 * (300us + collective) + 10us).count()),
              50);
  EXPECT_NEAR(static_cast<double>(played.layer_forward[0].total().count()),
              static_cast<double>((100us + collective).count()), 20);
  EXPECT_EQ(carried(played), Bytes(2LL * 2 * 4 * 6 * 1'000'000)) << "2 calls, 2 links, 4 ranks, 6 steps";
  EXPECT_EQ(played.collectives, 0) << "played as one flow";
}

TEST(Cluster, OneFlowEqualsItsSteps) {
  const Degrees plan{.tp = 4, .pp = 2, .dp = 2, .global_batch = 8};
  Case given = make_case(plan, 100us, 200us, 2);
  send_between_stages(given.program, 2'000'000);
  given.program.layers[0].forward.push_back(call(Axis::tensor, CollectiveKind::all_reduce, 4'000'000));
  given.program.layers[0].backward.push_back(call(Axis::tensor, CollectiveKind::all_gather, 3'000'001));
  for (StageProgram& stage : given.program.stages) {
    stage.after.insert(stage.after.begin(), call(Axis::data, CollectiveKind::all_reduce, 50'000'000));
  }
  const Cluster cluster =
      make_cluster({make_level(LevelKind::switched, {4}, 100e9, 1us), make_level(LevelKind::switched, {4}, 10e9, 5us)});
  const ClusterRun flows = run(cluster, given);
  const ClusterRun steps = run(cluster, given, {}, Aggregation::nothing);
  EXPECT_EQ(flows.time, steps.time);
  EXPECT_EQ(carried(flows), carried(steps));
  EXPECT_GT(steps.collectives, flows.collectives);
  for (std::size_t i = 0; i < flows.stages.size(); ++i) {
    EXPECT_EQ(flows.stages[i].first.by_cause.part, steps.stages[i].first.by_cause.part);
  }
}

TEST(Cluster, GroupsThatShareALinkTakeTurns) {
  // Two nodes of two chips; both data-parallel groups cross the nodes' single link.
  const auto exchange = [](std::int64_t tp) {
    Case given = make_case({.tp = tp, .dp = 2, .global_batch = 2}, 100us, 200us);
    given.program.stages[0].after = {call(Axis::data, CollectiveKind::all_reduce, 10'000'000)};
    const Cluster cluster = make_cluster(
        {make_level(LevelKind::switched, {tp}, 100e9, 0s), make_level(LevelKind::switched, {2}, 10e9, 0s)});
    return run(cluster, given).time - 300us;
  };
  EXPECT_NEAR(static_cast<double>(exchange(1).count()), 1e9, 1e3);
  EXPECT_NEAR(static_cast<double>(exchange(2).count()), 2e9, 1e3);
}

TEST(Cluster, OverlappedGradientsHideBehindTheLastBackward) {
  const Degrees plan{.dp = 2, .global_batch = 4};
  Case given = make_case(plan, 1ms, 2ms, 4);
  given.program.stages[0].gradient_buckets.assign(4, Bytes(10'000'000));
  given.program.stages[0].after.clear();
  Cluster cluster = star(2, 10e9);
  const ClusterRun overlapped = run(cluster, given);
  // The bucket of the last layer alone is exposed: 10 MB each way at 10 GB/s and 4 us of latency.
  EXPECT_NEAR(static_cast<double>(overlapped.time.count()), 24e9 + 1e9 + 4e6, 1e4);
  EXPECT_NEAR(static_cast<double>(overlapped.stages[0].first.by_cause[Cause::data_communication].count()), 1e9 + 4e6,
              1e4);
}

TEST(Cluster, EmbeddingGroupJoinsFirstAndLastStageOnly) {
  Case given = make_case({.pp = 4, .global_batch = 4}, 100us, 200us);
  given.program.stages.front().after = {call(Axis::embedding, CollectiveKind::all_reduce, 1'000'000)};
  given.program.stages.back().after = given.program.stages.front().after;
  const ClusterRun played = run(star(4), given);
  EXPECT_EQ(played.collectives, 1);
  EXPECT_GT(played.stages.back().first.by_cause[Cause::bubble], 0_ps) << "the last stage waits for the first";
}

TEST(Cluster, CausesAddUpToTheTime) {
  const Degrees plan{.tp = 2, .pp = 2, .dp = 2, .global_batch = 8};
  Case given = make_case(plan, 100us, 200us, 2);
  send_between_stages(given.program, 5'000'000);
  given.program.layers[0].forward.push_back(call(Axis::tensor, CollectiveKind::all_reduce, 4'000'000));
  given.program.stages[0].after.insert(given.program.stages[0].after.begin(),
                                       call(Axis::data, CollectiveKind::all_reduce, 5'000'000));
  given.program.model.layers = 1;
  Cluster cluster = star(8, 10e9);
  cluster.overhead = {.collective = 5us, .step = 1us, .send = 7us};
  cluster.iteration_overhead = 1ms;
  Answer answer;
  add_iteration(answer, cluster, given.program, run(cluster, given));
  EXPECT_EQ(answer.iteration.by_cause.total(), answer.iteration.time);
  for (const StageAnswer& stage : answer.stages) EXPECT_EQ(stage.by_cause.total(), answer.iteration.time);
  for (const Cause cause : {Cause::compute, Cause::tensor_communication, Cause::pipeline_communication,
                            Cause::data_communication, Cause::bubble, Cause::software}) {
    EXPECT_GT(answer.stages[0].by_cause[cause], 0_ps) << name_of(cause);
  }
  EXPECT_EQ(answer.iteration.tokens_per_second, 8 / to_seconds(answer.iteration.time).count());
}

TEST(Cluster, DeadlockSaysWhoWaitsForWhom) {
  Case given = make_case({.pp = 2, .global_batch = 2}, 100us, 200us);
  given.program.stages[0].after = {call(Axis::embedding, CollectiveKind::all_reduce, 1000),
                                   call(Axis::embedding, CollectiveKind::all_reduce, 1000)};
  given.program.stages[1].after = {call(Axis::embedding, CollectiveKind::all_reduce, 1000)};
  try {
    run(star(2), given);
    FAIL() << "ended";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("devices 0 wait for devices 1"));
    EXPECT_THAT(error.what(), HasSubstr("stage0.dp0.cp0 waits for a collective"));
  }
}

TEST(Cluster, UnequalCallsOfOneGroupAreRefused) {
  Case given = make_case({.pp = 2, .global_batch = 2}, 100us, 200us);
  given.program.stages[0].after = {call(Axis::embedding, CollectiveKind::all_reduce, 1000)};
  given.program.stages[1].after = {call(Axis::embedding, CollectiveKind::all_reduce, 2000)};
  EXPECT_THROW(run(star(2), given), CollectiveMismatch);
}

TEST(Cluster, CancelledRunSaysSo) {
  const Case given = make_case({.pp = 4, .global_batch = 8}, 100us, 200us);
  double seen = -1;
  SimulationOptions options;
  options.progress = [&seen](double fraction) { seen = fraction; };
  options.cancelled = [] { return true; };
  EXPECT_THROW(run(star(4), given, options), CancelledError);
  EXPECT_GT(seen, 0);
}

TEST(Cluster, ContiguousStagesCrossNodesOnce) {
  // 32 stages on 4 nodes of 8: 3 edges between nodes each way (Alpa issue 752).
  Case given = make_case({.pp = 32, .global_batch = 1}, 100us, 200us);
  send_between_stages(given.program, 1000);
  const Cluster cluster =
      make_cluster({make_level(LevelKind::switched, {8}, 100e9, 1us), make_level(LevelKind::switched, {4}, 10e9, 5us)});
  Bytes between_nodes{};
  for (const LinkUse& link : run(cluster, given).links) {
    if (link.level == 1) between_nodes += link.bytes;
  }
  EXPECT_EQ(between_nodes, Bytes(2 * 2 * 3 * 1000)) << "2 directions, 2 links, 3 edges";
}

}  // namespace
}  // namespace tandem
