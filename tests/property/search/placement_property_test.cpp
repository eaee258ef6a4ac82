// SPDX-License-Identifier: Apache-2.0
// The placement search against exhaustion, under the model that it claims to be exact for.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "arch/config.h"
#include "arch/support/error.h"
#include "search/mapper.h"
#include "search/placement.h"
#include "search/predict.h"

namespace tandem {
namespace {

TransformerModel small_model() { return make_gpt("small", 5, 512, 8, 2048, 8192, 256); }

Cluster small_cluster(std::int64_t devices) {
  return load_cluster(find_config("cluster", "a100x4-nvlink")).resized(devices);
}

PlanSpace small_space(std::int64_t devices) {
  PlanSpace space;
  space.devices = devices;
  space.global_batch = 16;
  space.sequence = 256;
  space.microbatch = {1, 4};
  space.schedule = {PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe};
  return space;
}

void all_divisions(std::int64_t layers, std::size_t stages, std::vector<std::int64_t>& partial,
                   const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  if (partial.size() + 1 == stages) {
    partial.push_back(layers);
    visit(partial);
    partial.pop_back();
    return;
  }
  for (std::int64_t l = 1; l < layers; ++l) {
    partial.push_back(l);
    if (layers - l >= static_cast<std::int64_t>(stages - partial.size())) {
      all_divisions(layers - l, stages, partial, visit);
    }
    partial.pop_back();
  }
}

/// One plan of the space under one division of the layers.
struct Tried {
  std::size_t plan = 0;
  Bytes memory{};  ///< of the fullest device
  std::int64_t time = 0;
};

std::vector<Tried> try_everything(const Cluster& cluster, const TransformerModel& model, const PlanSpace& space) {
  std::vector<Tried> all;
  const auto plans = enumerate_plans(space, model);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::vector<std::int64_t> partial;
    all_divisions(model.layers, static_cast<std::size_t>(plans[i].pp), partial, [&](const auto& division) {
      Plan plan = plans[i];
      plan.stage_layers = division;
      if (!problems(plan, model, space.devices).empty()) return;
      Program program = build_program(model, plan);
      map_program(cluster.chip, program);
      Bytes memory{};
      for (const MemoryFootprint& footprint : program.memory) memory = std::max(memory, footprint.total());
      all.push_back({i, memory, predict(cluster, program).iteration.time.count()});
    });
  }
  return all;
}

/// Best times, one for each plan that fits.
std::vector<std::int64_t> best_times(const std::vector<Tried>& all, Bytes capacity) {
  std::map<std::size_t, std::int64_t> best;
  for (const Tried& tried : all) {
    if (tried.memory > capacity) continue;
    const auto known = best.try_emplace(tried.plan, tried.time).first;
    known->second = std::min(known->second, tried.time);
  }
  std::vector<std::int64_t> times;
  for (const auto& [plan, time] : best) times.push_back(time);
  std::sort(times.begin(), times.end());
  return times;
}

void expect_exact(const PlacementResult& found, const std::vector<std::int64_t>& expected) {
  EXPECT_EQ(found.unproven, 0);
  ASSERT_EQ(found.best.size(), std::min<std::size_t>(4, expected.size()));
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    // Sums in another order may round to the next picosecond.
    EXPECT_NEAR(static_cast<double>(found.best[i].time.count()), static_cast<double>(expected[i]),
                1e-9 * static_cast<double>(expected[i]));
  }
  std::int64_t accounted = found.counts.predicted + found.counts.bounded;
  for (const auto& [reason, count] : found.counts.rejected) accounted += count;
  EXPECT_EQ(accounted, found.counts.enumerated);
}

TEST(Placement, IsWhatExhaustionFindsWhateverTheMemory) {
  Cluster cluster = small_cluster(4);
  cluster.reserved_memory = Bytes(0);
  const TransformerModel model = small_model();
  const PlanSpace space = small_space(4);
  const Placer placer(model, space, cluster);
  const auto all = try_everything(cluster, model, space);
  std::vector<Bytes> needs;
  for (const Tried& tried : all) needs.push_back(tried.memory);
  std::sort(needs.begin(), needs.end());
  for (const double part : {0.01, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0}) {
    // Exactly what some division needs: it must still fit.
    cluster.chip.hbm.capacity = needs[static_cast<std::size_t>(part * static_cast<double>(needs.size() - 1))];
    const PlacementResult found = placer.place(cluster.chip, 4);
    expect_exact(found, best_times(all, cluster.chip.hbm.capacity));
    EXPECT_EQ(found.counts.enumerated, static_cast<std::int64_t>(enumerate_plans(space, model).size()));
  }
}

TEST(Placement, NothingFitsIsSaidWithTheNearestMiss) {
  Cluster cluster = small_cluster(4);
  cluster.reserved_memory = Bytes(0);
  cluster.chip.hbm.capacity = Bytes(1 << 20);
  const PlacementResult found = place(cluster, small_model(), small_space(4));
  EXPECT_TRUE(found.best.empty());
  ASSERT_TRUE(found.nearest_miss.has_value());
  EXPECT_GT(found.nearest_miss->needed, found.nearest_miss->capacity);
  EXPECT_NE(found.nearest_miss->text.find("stage"), std::string::npos);
  EXPECT_GT(found.counts.rejected.at("memory"), 0);
}

TEST(Placement, NoPlanBeatsTheBoundOfItsChip) {
  const Cluster cluster = small_cluster(4);
  const Placer placer(small_model(), small_space(4), cluster);
  for (const std::int64_t cores : {1, 2, 8, 32}) {
    for (const std::int64_t side : {4, 16, 64}) {
      Chip chip = cluster.chip;
      chip.tensor.count = chip.vector.count = cores;
      chip.tensor.rows = side;
      chip.tensor.cols = 2 * side;
      const PlacementResult found = placer.place(chip);
      ASSERT_FALSE(found.best.empty());
      const Seconds quick = placer.least_time(chip, Placer::Effort::quick);
      EXPECT_GT(quick, Seconds(0));
      EXPECT_LE(quick, placer.least_time(chip, Placer::Effort::close));
      EXPECT_LE(placer.least_time(chip, Placer::Effort::close), to_seconds(found.best.front().time));
    }
  }
}

}  // namespace
}  // namespace tandem
