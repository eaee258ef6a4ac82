// SPDX-License-Identifier: Apache-2.0
#include "search/core_schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "search/core_bounds.h"

namespace tandem {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// One way to place an operator: on all cores, or on one of each kind it uses.
struct Choice {
  std::size_t op = 0;
  bool spread = false;
  std::int32_t tensor = -1, vector = -1;
  double start = 0, end = 0;
};

/// A schedule under construction, in order of start.
struct State {
  std::vector<double> tensor, vector;  ///< when each core is free
  std::vector<double> end;             ///< of placed operators
  std::vector<bool> open;
  double now = 0;  ///< last start: no later operator starts earlier
  double makespan = 0;
};

class Scheduler {
 public:
  Scheduler(const CoreProblem& problem, const CoreScheduleLimits& limits)
      : problem_(problem), limits_(limits), graph_(analyse(problem)), n_(problem.operators.size()) {
    // More cores of a kind than operators cannot be told apart from as many as operators.
    tensor_ = static_cast<std::size_t>(
        std::min<std::int64_t>(std::max<std::int64_t>(0, problem.tensor_cores), static_cast<std::int64_t>(n_)));
    vector_ = static_cast<std::size_t>(
        std::min<std::int64_t>(std::max<std::int64_t>(0, problem.vector_cores), static_cast<std::int64_t>(n_)));
  }

  CoreSchedule run() {
    best_.makespan = kNever;
    chosen_.reserve(n_);
    const double root = root_bound(graph_);
    list_schedules();
    if (n_ > 0 && !good_enough(root)) descend(fresh());
    best_.nodes = nodes_;
    if (n_ == 0) best_.makespan = 0;
    const bool complete = nodes_ < limits_.nodes;
    best_.lower_bound = std::min(best_.makespan, complete ? std::max(root, best_.makespan / (1 + limits_.gap)) : root);
    return best_;
  }

 private:
  [[nodiscard]] State fresh() const {
    return {std::vector<double>(tensor_),
            std::vector<double>(vector_),
            std::vector<double>(n_),
            std::vector<bool>(n_, true),
            0,
            0};
  }
  [[nodiscard]] bool good_enough(double bound) const {
    return bound * (1 + limits_.gap) >= best_.makespan * (1 - 1e-12);
  }

  [[nodiscard]] bool ready(const State& state, std::size_t op) const {
    return state.open[op] && std::none_of(graph_.before[op].begin(), graph_.before[op].end(),
                                          [&](std::int32_t i) { return state.open[static_cast<std::size_t>(i)]; });
  }
  [[nodiscard]] double inputs_end(const State& state, std::size_t op) const {
    double end = 0;
    for (const std::int32_t i : graph_.before[op]) end = std::max(end, state.end[static_cast<std::size_t>(i)]);
    return end;
  }

  /// Cores that differ in when they and their partners are free; before `now` all is one.
  [[nodiscard]] std::vector<std::int32_t> distinct(const State& state, CoreUse use) const {
    const std::size_t pairs = std::min(tensor_, vector_);
    const std::size_t cores = use == CoreUse::fused ? pairs : (use == CoreUse::tensor ? tensor_ : vector_);
    std::set<std::pair<double, double>> seen;
    std::vector<std::int32_t> kept;
    const auto key = [&](const std::vector<double>& free, std::size_t i) { return free[i] < state.now ? -1 : free[i]; };
    for (std::size_t i = 0; i < cores; ++i) {
      const double t = i < tensor_ ? key(state.tensor, i) : -2;
      const double v = i < vector_ ? key(state.vector, i) : -2;
      if (seen.emplace(t, v).second) kept.push_back(static_cast<std::int32_t>(i));
    }
    return kept;
  }

  void add_on_one(const State& state, std::size_t op, std::vector<Choice>& choices) const {
    const CoreOperator& work = problem_.operators[op];
    const double inputs = inputs_end(state, op);
    if (work.use == CoreUse::none) {
      choices.push_back({op, false, -1, -1, inputs, inputs});
      return;
    }
    for (const std::int32_t core : distinct(state, work.use)) {
      Choice choice{op, false, -1, -1, inputs, 0};
      if (work.use != CoreUse::vector) choice.tensor = core;
      if (work.use != CoreUse::tensor) choice.vector = core;
      if (choice.tensor >= 0) choice.start = std::max(choice.start, state.tensor[static_cast<std::size_t>(core)]);
      if (choice.vector >= 0) choice.start = std::max(choice.start, state.vector[static_cast<std::size_t>(core)]);
      choice.end = choice.start + work.on_one;
      choices.push_back(choice);
    }
  }
  void add_spread(const State& state, std::size_t op, std::vector<Choice>& choices) const {
    const CoreOperator& work = problem_.operators[op];
    if (work.use == CoreUse::none) return;
    double start = inputs_end(state, op);
    for (const double free : state.tensor) start = std::max(start, free);
    for (const double free : state.vector) start = std::max(start, free);
    choices.push_back({op, true, -1, -1, start, start + work.spread});
  }

  [[nodiscard]] static State placed(const State& before, const Choice& choice) {
    State state = before;
    state.open[choice.op] = false;
    state.end[choice.op] = choice.end;
    const bool on_cores = choice.spread || choice.tensor >= 0 || choice.vector >= 0;
    if (on_cores) state.now = std::max(state.now, choice.start);  // others are placed ahead of their time
    state.makespan = std::max(state.makespan, choice.end);
    if (choice.spread) {
      std::fill(state.tensor.begin(), state.tensor.end(), choice.end);
      std::fill(state.vector.begin(), state.vector.end(), choice.end);
    }
    if (choice.tensor >= 0) state.tensor[static_cast<std::size_t>(choice.tensor)] = choice.end;
    if (choice.vector >= 0) state.vector[static_cast<std::size_t>(choice.vector)] = choice.end;
    return state;
  }

  [[nodiscard]] static double mean_free(const std::vector<double>& free, std::int64_t cores, double now) {
    double sum = 0;
    for (const double time : free) sum += std::max(time, now);
    const auto all = static_cast<double>(std::max<std::int64_t>(cores, 1));
    return (sum + (all - static_cast<double>(free.size())) * now) / all;
  }

  [[nodiscard]] double bound(const State& state) const {
    double least = state.makespan;
    std::vector<double> early(n_);
    for (const std::int32_t k : graph_.order) {
      const auto i = static_cast<std::size_t>(k);
      if (!state.open[i]) continue;
      early[i] = problem_.operators[i].use == CoreUse::none ? 0 : state.now;
      for (const std::int32_t b : graph_.before[i]) {
        const auto from = static_cast<std::size_t>(b);
        early[i] = std::max(early[i], state.open[from] ? early[from] + graph_.least[from] : state.end[from]);
      }
      least = std::max(least, early[i] + graph_.tail[i]);
    }
    const double tensor = mean_free(state.tensor, problem_.tensor_cores, state.now);
    const double vector = mean_free(state.vector, problem_.vector_cores, state.now);
    return std::max(least, work_bound(graph_, state.open, {tensor, vector}));
  }

  void keep(const State& state) {
    if (state.makespan >= best_.makespan) return;
    best_.makespan = state.makespan;
    best_.start.assign(n_, 0);
    best_.spread.assign(n_, false);
    best_.tensor_core.assign(n_, -1);
    best_.vector_core.assign(n_, -1);
    for (const Choice& choice : chosen_) {
      best_.start[choice.op] = choice.start;
      best_.spread[choice.op] = choice.spread;
      best_.tensor_core[choice.op] = choice.tensor;
      best_.vector_core[choice.op] = choice.vector;
    }
  }

  void descend(const State& state) {
    if (chosen_.size() == n_) return keep(state);
    struct Child {
      double bound;
      Choice choice;
      State state;
    };
    std::vector<Child> children;
    for (const Choice& choice : branches(state)) {
      if (++nodes_ >= limits_.nodes) return;
      State next = placed(state, choice);
      const double least = bound(next);
      if (!good_enough(least)) children.push_back({least, choice, std::move(next)});
    }
    std::stable_sort(children.begin(), children.end(), [](const Child& a, const Child& b) {
      return std::tie(a.bound, a.choice.start) < std::tie(b.bound, b.choice.start);
    });
    for (const Child& child : children) {
      if (nodes_ >= limits_.nodes || good_enough(child.bound)) return;
      chosen_.push_back(child.choice);
      descend(child.state);
      chosen_.pop_back();
    }
  }

  /// Schedules whose operators start in the order in which they are placed. An operator without a core starts with its
  /// inputs and is placed at once.
  [[nodiscard]] std::vector<Choice> branches(const State& state) const {
    std::vector<Choice> choices;
    for (std::size_t op = 0; op < n_; ++op) {
      if (!ready(state, op) || problem_.operators[op].use != CoreUse::none) continue;
      add_on_one(state, op, choices);
      return choices;
    }
    for (std::size_t op = 0; op < n_; ++op) {
      if (!ready(state, op)) continue;
      add_on_one(state, op, choices);
      add_spread(state, op, choices);
    }
    choices.erase(
        std::remove_if(choices.begin(), choices.end(), [&](const Choice& choice) { return choice.start < state.now; }),
        choices.end());
    return choices;
  }

  // ---- list schedules

  /// Which operators are spread: none, those that spreading shortens, those that it shortens by more than `factor`.
  [[nodiscard]] std::vector<bool> spread_where(double factor) const {
    std::vector<bool> spread(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      spread[i] = problem_.operators[i].spread * factor < problem_.operators[i].on_one;
    }
    return spread;
  }
  [[nodiscard]] std::vector<std::vector<double>> priorities() const {
    std::vector<double> duration(n_), followers(n_), place(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      duration[i] = problem_.operators[i].on_one;
      followers[i] = static_cast<double>(graph_.after[i].size());
    }
    for (std::size_t k = 0; k < n_; ++k) place[static_cast<std::size_t>(graph_.order[k])] = -static_cast<double>(k);
    return {graph_.tail, duration, followers, place};
  }
  void list_schedules() {
    for (const double factor : {1.0, 2.0, 4.0, 16.0, 64.0, 256.0, 1024.0, kNever}) {
      for (const std::vector<double>& priority : priorities()) list_schedule(spread_where(factor), priority);
    }
  }
  /// Always the operator that can start first; of those the one with the highest priority.
  void list_schedule(const std::vector<bool>& spread, const std::vector<double>& priority) {
    State state = fresh();
    chosen_.clear();
    while (chosen_.size() < n_) {
      std::vector<Choice> choices;
      for (std::size_t op = 0; op < n_; ++op) {
        if (!ready(state, op)) continue;
        if (spread[op] && problem_.operators[op].use != CoreUse::none) {
          add_spread(state, op, choices);
        } else {
          add_on_one(state, op, choices);
        }
      }
      const Choice choice = *std::min_element(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) {
        return std::make_tuple(a.start, -priority[a.op], a.op) < std::make_tuple(b.start, -priority[b.op], b.op);
      });
      state = placed(state, choice);
      chosen_.push_back(choice);
    }
    keep(state);
    chosen_.clear();
  }

  const CoreProblem& problem_;
  const CoreScheduleLimits& limits_;
  CoreGraph graph_;
  std::size_t n_, tensor_ = 0, vector_ = 0;
  CoreSchedule best_;
  std::vector<Choice> chosen_;
  std::int64_t nodes_ = 0;
};

}  // namespace

CoreSchedule schedule_on_cores(const CoreProblem& problem, const CoreScheduleLimits& limits) {
  return Scheduler(problem, limits).run();
}

}  // namespace tandem
