// SPDX-License-Identifier: Apache-2.0
// Schedules on cores against an exhaustive walk through time, which shares neither bounds nor branching with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "arch/support/error.h"
#include "search/core_schedule.h"

namespace tandem {
namespace {

/// What every core works on, and for how long still; whole times.
struct Moment {
  std::vector<int> tensor, vector;  ///< operator, or -1
  std::vector<int> left;            ///< by operator; -1: not started, 0: ended
  auto operator<=>(const Moment&) const = default;
};

class Exhaustive {
 public:
  explicit Exhaustive(const CoreProblem& problem) : problem_(problem) {}
  int shortest() {
    const auto count = [](std::int64_t cores) { return static_cast<std::size_t>(cores); };
    return rest({std::vector<int>(count(problem_.tensor_cores), -1), std::vector<int>(count(problem_.vector_cores), -1),
                 std::vector<int>(problem_.operators.size(), -1)});
  }

 private:
  [[nodiscard]] bool ready(const Moment& moment, std::size_t op) const {
    return moment.left[op] < 0 && std::all_of(problem_.edges.begin(), problem_.edges.end(), [&](const auto& edge) {
             return edge.second != static_cast<int>(op) || moment.left[static_cast<std::size_t>(edge.first)] == 0;
           });
  }
  /// Time until all have ended: start something now, or wait until something ends.
  int rest(const Moment& moment) {
    if (std::all_of(moment.left.begin(), moment.left.end(), [](int left) { return left == 0; })) return 0;
    if (const auto known = known_.find(moment); known != known_.end()) return known->second;
    int best = wait(moment);
    for (std::size_t op = 0; op < moment.left.size(); ++op) {
      if (ready(moment, op)) best = std::min(best, start(moment, op));
    }
    return known_[moment] = best;
  }
  int wait(const Moment& moment) {
    int step = 0;
    for (const int left : moment.left) {
      if (left > 0) step = step == 0 ? left : std::min(step, left);
    }
    if (step == 0) return 1'000'000;
    Moment next = moment;
    for (int& left : next.left) left = left > 0 ? left - step : left;
    const auto release = [&](std::vector<int>& cores) {
      for (int& op : cores) op = op >= 0 && next.left[static_cast<std::size_t>(op)] == 0 ? -1 : op;
    };
    release(next.tensor);
    release(next.vector);
    return step + rest(next);
  }
  int start(const Moment& moment, std::size_t op) {
    const CoreOperator& work = problem_.operators[op];
    const int name = static_cast<int>(op);
    int best = 1'000'000;
    Moment next = moment;
    if (work.use == CoreUse::none) {
      next.left[op] = 0;
      return rest(next);
    }
    const bool tensor = work.use != CoreUse::vector;
    const bool vector = work.use != CoreUse::tensor;
    const std::size_t cores = std::min(tensor ? moment.tensor.size() : 99, vector ? moment.vector.size() : 99);
    for (std::size_t i = 0; i < cores; ++i) {
      if ((tensor && moment.tensor[i] >= 0) || (vector && moment.vector[i] >= 0)) continue;
      next = moment;
      next.left[op] = static_cast<int>(work.on_one);
      if (tensor) next.tensor[i] = name;
      if (vector) next.vector[i] = name;
      best = std::min(best, rest(next));
    }
    const auto idle = [](const std::vector<int>& all) { return std::count(all.begin(), all.end(), -1); };
    if (idle(moment.tensor) + idle(moment.vector) == std::ssize(moment.tensor) + std::ssize(moment.vector)) {
      next = moment;
      next.left[op] = static_cast<int>(work.spread);
      std::fill(next.tensor.begin(), next.tensor.end(), name);
      std::fill(next.vector.begin(), next.vector.end(), name);
      best = std::min(best, rest(next));
    }
    return best;
  }

  const CoreProblem& problem_;
  std::map<Moment, int> known_;
};

CoreProblem random_problem(std::mt19937& random) {
  const auto draw = [&random](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  CoreProblem problem;
  problem.tensor_cores = draw(1, 3);
  problem.vector_cores = draw(1, 3);
  const int n = draw(1, 9);
  const int density = draw(10, 60);
  for (int i = 0; i < n; ++i) {
    CoreOperator op;
    op.use = static_cast<CoreUse>(draw(0, 9) == 0 ? 3 : draw(0, 2));
    op.on_one = draw(1, 12);
    op.spread = draw(1, static_cast<int>(op.on_one) + 2);
    problem.operators.push_back(op);
    for (int before = 0; before < i; ++before) {
      if (draw(0, 99) < density) problem.edges.emplace_back(before, i);
    }
  }
  return problem;
}

double duration(const CoreProblem& problem, const CoreSchedule& schedule, std::size_t op) {
  const CoreOperator& work = problem.operators[op];
  if (work.use == CoreUse::none) return 0;
  return schedule.spread[op] ? work.spread : work.on_one;
}

bool share_cores(const CoreSchedule& schedule, const CoreProblem& problem, std::size_t a, std::size_t b) {
  if (problem.operators[a].use == CoreUse::none || problem.operators[b].use == CoreUse::none) return false;
  if (schedule.spread[a] || schedule.spread[b]) return true;
  const auto same = [](std::int32_t x, std::int32_t y) { return x >= 0 && x == y; };
  return same(schedule.tensor_core[a], schedule.tensor_core[b]) ||
         same(schedule.vector_core[a], schedule.vector_core[b]);
}

void expect_valid(const CoreProblem& problem, const CoreSchedule& schedule) {
  const std::size_t n = problem.operators.size();
  double end = 0;
  for (std::size_t a = 0; a < n; ++a) {
    end = std::max(end, schedule.start[a] + duration(problem, schedule, a));
    if (problem.operators[a].use == CoreUse::fused) {
      EXPECT_EQ(schedule.tensor_core[a], schedule.vector_core[a]);
    }
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b || schedule.start[a] > schedule.start[b] || !share_cores(schedule, problem, a, b)) continue;
      EXPECT_GE(schedule.start[b], schedule.start[a] + duration(problem, schedule, a));
    }
  }
  for (const auto& [from, to] : problem.edges) {
    const auto before = static_cast<std::size_t>(from);
    EXPECT_GE(schedule.start[static_cast<std::size_t>(to)],
              schedule.start[before] + duration(problem, schedule, before));
  }
  EXPECT_DOUBLE_EQ(end, schedule.makespan);
}

TEST(CoreSchedule, SmallRandomGraphsAreSolvedExactly) {
  std::mt19937 random(20240713);
  for (int round = 0; round < 320; ++round) {
    SCOPED_TRACE(round);
    const CoreProblem problem = random_problem(random);
    const CoreSchedule schedule = schedule_on_cores(problem, {.nodes = 10'000'000});
    ASSERT_DOUBLE_EQ(schedule.makespan, Exhaustive(problem).shortest());
    EXPECT_DOUBLE_EQ(schedule.lower_bound, schedule.makespan);
    expect_valid(problem, schedule);
  }
}

TEST(CoreSchedule, WhatIsProvenHoldsWhereverTheSearchStops) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const CoreProblem problem = random_problem(random);
    const double optimum = schedule_on_cores(problem, {.nodes = 10'000'000}).makespan;
    for (const std::int64_t nodes : {1, 10, 100}) {
      const CoreSchedule stopped = schedule_on_cores(problem, {.nodes = nodes});
      EXPECT_LE(stopped.lower_bound, optimum);
      EXPECT_GE(stopped.makespan, optimum);
      expect_valid(problem, stopped);
    }
    const CoreSchedule close = schedule_on_cores(problem, {.nodes = 10'000'000, .gap = 0.1});
    EXPECT_LE(close.gap(), 0.1 + 1e-9);
    EXPECT_LE(close.lower_bound, optimum * (1 + 1e-12));
  }
}

TEST(CoreSchedule, TellsWhatCannotBeScheduled) {
  CoreProblem problem;
  EXPECT_EQ(schedule_on_cores(problem).makespan, 0);
  problem.operators = {{CoreUse::tensor, 1, 1}, {CoreUse::vector, 1, 1}};
  problem.edges = {{0, 1}, {1, 0}};
  EXPECT_THROW((void)schedule_on_cores(problem), ConfigError);
  problem.edges = {{0, 2}};
  EXPECT_THROW((void)schedule_on_cores(problem), ConfigError);
  problem.edges.clear();
  problem.operators[0].on_one = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)schedule_on_cores(problem), ConfigError);
  problem.operators[0].on_one = 1;
  problem.vector_cores = 0;
  EXPECT_THROW((void)schedule_on_cores(problem), InfeasibleError);
}

}  // namespace
}  // namespace tandem
