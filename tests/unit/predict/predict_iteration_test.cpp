// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "arch/support/error.h"
#include "search/communication.h"
#include "search/mapper.h"
#include "search/predict.h"
#include "tests/support/chips.h"

namespace tandem {
namespace {

Plan plan(std::int64_t tp, std::int64_t pp, std::int64_t dp) {
  Plan plan;
  plan.tp = tp;
  plan.pp = pp;
  plan.dp = dp;
  plan.global_batch = 16;
  plan.microbatch = 1;
  plan.sequence = 128;
  return plan;
}

Answer predicted(const Cluster& cluster, const Plan& plan) {
  Program program = build_program(make_gpt("gpt", 8, 256, 8, 1024, 1000, 128), plan);
  map_program(cluster.chip, program);
  return predict(cluster, program);
}

TEST(PredictIteration, AddsUpExactlyAtEveryLevel) {
  const Cluster cluster = small_cluster(4, 4);
  for (const Plan& each : {plan(1, 1, 1), plan(2, 2, 2), plan(4, 4, 1), plan(1, 2, 8)}) {
    const Answer answer = predicted(cluster, each);
    for (const OperatorAnswer& op : answer.operators) EXPECT_EQ(op.by_cause.total(), op.time);
    for (const SliceAnswer& slice : answer.slices) EXPECT_EQ(slice.by_cause.total(), slice.time);
    for (const LayerAnswer& layer : answer.layers) EXPECT_EQ(layer.by_cause.total(), layer.forward + layer.backward);
    for (const StageAnswer& stage : answer.stages) EXPECT_EQ(stage.by_cause.total(), answer.iteration.time);
    EXPECT_EQ(answer.iteration.by_cause.total(), answer.iteration.time);
    EXPECT_GT(answer.iteration.mfu, 0);
    EXPECT_LT(answer.iteration.mfu, 1);
  }
}

TEST(PredictIteration, CommunicationShowsOnlyWhereThereIsSome) {
  const Cluster cluster = small_cluster(4, 4);
  const Answer alone = predicted(cluster, plan(1, 1, 1));
  for (const Cause cause :
       {Cause::tensor_communication, Cause::data_communication, Cause::pipeline_communication, Cause::bubble}) {
    EXPECT_EQ(alone.iteration.by_cause[cause].count(), 0);
  }
  EXPECT_EQ(alone.iteration.by_cause[Cause::software], Picoseconds(1'000'000'000));
  const Answer spread = predicted(cluster, plan(2, 2, 4));
  for (const Cause cause : {Cause::tensor_communication, Cause::data_communication, Cause::bubble}) {
    EXPECT_GT(spread.iteration.by_cause[cause].count(), 0) << name_of(cause);
  }
}

TEST(PredictIteration, OverlappedGradientsCostNoMore) {
  const Cluster cluster = small_cluster(4, 4);
  Plan overlapped = plan(2, 1, 8);
  const Answer after = predicted(cluster, overlapped);
  overlapped.overlap_gradients = true;
  const Answer during = predicted(cluster, overlapped);
  EXPECT_LT(during.iteration.by_cause[Cause::data_communication], after.iteration.by_cause[Cause::data_communication]);
}

TEST(PredictIteration, RefusesMoreDevicesThanThereAre) {
  EXPECT_THROW(predicted(small_cluster(1, 4), plan(2, 2, 2)), InfeasibleError);
}

TEST(Communication, DataParallelGroupsOfANodeMeetAtItsLinks) {
  const Cluster cluster = small_cluster(4, 4);
  const Plan tensor_inside = plan(4, 1, 4);
  const Communication communication(cluster, tensor_inside);
  EXPECT_EQ(communication.groups_at_once(Axis::data, 0).size(), 4U);
  EXPECT_EQ(communication.groups_at_once(Axis::tensor, 0).size(), 1U);
}

TEST(Communication, StagesThatLieAlikeTakeTheSameTime) {
  const Cluster cluster = small_cluster(4, 4);
  const Plan stages = plan(2, 4, 2);
  Communication communication(cluster, stages);
  const Collective reduce{CollectiveKind::all_reduce, Bytes(1 << 20)};
  const auto first = communication.collective(Axis::data, reduce, 0);
  EXPECT_EQ(communication.collective(Axis::data, reduce, 3), first);
  EXPECT_EQ(first, to_picoseconds(collective_time(reduce, cluster, communication.groups_at_once(Axis::data, 3))));
}

}  // namespace
}  // namespace tandem
