// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/cluster/cluster_simulation.h"
#include "sim/cluster/collective_costs.h"
#include "tests/property/cluster/random_cases.h"

namespace tandem {
namespace {

using namespace testing;

constexpr std::uint64_t kCases = 240;

ClusterRun play(const RandomCase& given, Aggregation aggregation = Aggregation::exclusive_collectives) {
  return run_cluster(given.cluster, given.work.program, given.work.slices, {}, {.aggregation = aggregation});
}

/// What the plan implies, counted from routes and steps without a simulation.
Bytes implied_bytes(const RandomCase& given) {
  const Program& program = given.work.program;
  const Plan& plan = program.plan;
  const Topology topology(given.cluster);
  Bytes total{};
  const auto crossed = [&](std::int64_t from, std::int64_t to, Bytes bytes, std::int64_t times) {
    total += bytes * checked_product(times, static_cast<std::int64_t>(topology.route(from, to).size()));
  };
  for (std::int64_t device = 0; device < plan.devices(); ++device) {
    const Coordinates at = coordinates(plan, device);
    for (const Axis axis : {Axis::tensor, Axis::data}) {
      const std::vector<std::int64_t> members = group(plan, axis, at);
      if (members.front() != device || members.size() < 2) continue;
      for (const Phase phase : {Phase::layers, Phase::after})
        for (const Collective& collective : collectives_of(program, at.pp, axis, phase)) {
          const std::int64_t calls = calls_per_iteration(program, at.pp, axis, collective, phase);
          for (const auto& step : collective_steps(collective, given.cluster, members)) {
            for (const Send& send : step) {
              crossed(members[static_cast<std::size_t>(send.from)], members[static_cast<std::size_t>(send.to)],
                      send.bytes, calls);
            }
          }
        }
    }
    for (std::size_t stage = static_cast<std::size_t>(at.pp); stage < program.stages.size();
         stage += static_cast<std::size_t>(plan.pp)) {
      const auto peer = [&](std::int64_t position) {
        return device_at(plan, {.tp = at.tp, .cp = at.cp, .dp = at.dp, .pp = (position + plan.pp) % plan.pp});
      };
      crossed(device, peer(at.pp + 1), program.stages[stage].send_forward, plan.microbatches());
      crossed(device, peer(at.pp - 1), program.stages[stage].send_backward, plan.microbatches());
    }
  }
  return total;
}

/// Compute that one device of each position does in the iteration.
Picoseconds compute_of(const RandomCase& given, std::int64_t position) {
  const Program& program = given.work.program;
  Picoseconds total{};
  for (auto s = static_cast<std::size_t>(position); s < program.stages.size();
       s += static_cast<std::size_t>(program.plan.pp)) {
    total += program.plan.microbatches() * program.stages[s].layers[0].count *
                 (given.work.slices[0].time + given.work.slices[1].time) +
             given.work.slices[2].time;
  }
  return total;
}

/// One microbatch forward through all stages and back.
Picoseconds critical_path(const RandomCase& given) {
  Picoseconds total{};
  for (const StageProgram& stage : given.work.program.stages) {
    total += stage.layers[0].count * (given.work.slices[0].time + given.work.slices[1].time);
  }
  return total;
}

TEST(ClusterProperty, NeverFasterThanItsWork) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase given = random_case(seed);
    const ClusterRun run = play(given);
    for (std::int64_t position = 0; position < given.work.program.plan.pp; ++position) {
      ASSERT_GE(run.time, compute_of(given, position)) << given.text;
    }
    ASSERT_GE(run.time, critical_path(given)) << given.text;
  }
}

TEST(ClusterProperty, BytesAreConserved) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase given = random_case(seed);
    Bytes carried{};
    for (const LinkUse& link : play(given).links) carried += link.bytes;
    ASSERT_EQ(carried, implied_bytes(given)) << given.text;
  }
}

TEST(ClusterProperty, NothingIsBusierThanAlwaysAndCausesAddUp) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase given = random_case(seed);
    const ClusterRun run = play(given);
    for (const LinkUse& link : run.links) {
      ASSERT_GE(link.utilisation, 0) << given.text;
      ASSERT_LE(link.utilisation, 1) << given.text << ", " << link.name;
    }
    for (const StageUse& stage : run.stages) {
      ASSERT_LE(stage.first.busy, stage.first.end) << given.text;
      ASSERT_EQ(stage.first.by_cause.total(), stage.first.end) << given.text;
      for (const Picoseconds part : stage.first.by_cause.part) ASSERT_GE(part, Picoseconds(0)) << given.text;
    }
  }
}

TEST(ClusterProperty, TwoRunsAreIdentical) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase given = random_case(seed);
    const ClusterRun one = play(given);
    const ClusterRun other = play(given);
    ASSERT_EQ(one.time, other.time) << given.text;
    for (std::size_t i = 0; i < one.links.size(); ++i) {
      ASSERT_EQ(one.links[i].busy, other.links[i].busy) << given.text;
    }
    for (std::size_t i = 0; i < one.stages.size(); ++i) {
      ASSERT_EQ(one.stages[i].first.by_cause.part, other.stages[i].first.by_cause.part) << given.text;
    }
  }
}

TEST(ClusterProperty, OneFlowEqualsItsSteps) {
  std::int64_t flows = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase given = random_case(seed);
    const ClusterRun flow = play(given);
    const ClusterRun steps = play(given, Aggregation::nothing);
    ASSERT_EQ(flow.time, steps.time) << given.text;
    for (std::size_t i = 0; i < flow.stages.size(); ++i) {
      ASSERT_EQ(flow.stages[i].first.by_cause.part, steps.stages[i].first.by_cause.part) << given.text;
    }
    if (flow.collectives < steps.collectives) ++flows;
  }
  EXPECT_GT(flows, 20) << "the cases hardly hold collectives on links of their own";
}

TEST(ClusterProperty, FasterLinksAreNeverSlowerWithoutContention) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    RandomCase given = uncontended_case(seed);
    const Picoseconds before = play(given).time;
    given.cluster.levels[1].link_bandwidth = given.cluster.levels[1].link_bandwidth * 1.5;
    const ClusterRun faster = play(given);
    // Every message may be rounded by a picosecond.
    ASSERT_LE(faster.time, before + Picoseconds(faster.messages)) << given.text;
    for (Level& level : given.cluster.levels) level.link_latency = Seconds(0);
    ASSERT_LE(play(given).time, faster.time + Picoseconds(faster.messages)) << given.text;
  }
}

}  // namespace
}  // namespace tandem
