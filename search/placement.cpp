// SPDX-License-Identifier: Apache-2.0
#include "search/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "arch/support/error.h"
#include "search/chip_costs.h"
#include "search/operator_bound.h"
#include "search/plan_costs.h"
#include "search/plan_json.h"

namespace tandem {
namespace {

constexpr std::int64_t kStageNodes = 2000;
// Answers are whole picoseconds; sums of them are this close to sums of unrounded times.
constexpr double kRounding = 1e-9;

/// Where a plan stands: its layers' operators are bounded, or predicted.
enum class Knowledge { bounds, layers };

struct Open {
  Seconds bound{};
  std::size_t plan = 0;
  Knowledge knowledge = Knowledge::bounds;

  bool operator>(const Open& other) const { return std::tie(bound, plan) > std::tie(other.bound, other.plan); }
};

struct Kept {
  std::size_t index = 0;
  Placement placement;

  bool operator<(const Kept& other) const {
    return std::tie(placement.time, index) < std::tie(other.placement.time, other.index);
  }
};

/// Every stage holds a layer, and all of them together the model.
bool fits(const PlanCosts& plan, const std::vector<std::int64_t>& most, std::int64_t layers) {
  std::int64_t sum = 0;
  for (const std::int64_t held : most) {
    if (held < 1) return false;
    sum += held;
  }
  return plan.plan.schedule == PipelineSchedule::interleaved || sum >= layers;
}

/// Of all operators, by number.
std::vector<Seconds> bounds(const SpaceCosts& space, const Chip& chip,
                            Seconds (OperatorBound::*bound)(const Operator&) const) {
  const OperatorBound on(chip);
  std::vector<Seconds> times;
  for (const Operator& op : space.operators) times.push_back((on.*bound)(op));
  return times;
}

/// One placement under way.
class Placing {
 public:
  Placing(const SpaceCosts& space, const TransformerModel& model, const Cluster& cluster, CommunicationMemo& memo,
          std::int64_t count)
      : space_(space),
        model_(model),
        capacity_(cluster.chip.hbm.capacity - cluster.reserved_memory),
        overhead_(cluster.iteration_overhead),
        chip_(cluster.chip),
        costs_(cluster, model, memo),
        bounds_(bounds(space, cluster.chip, &OperatorBound::close)),
        count_(static_cast<std::size_t>(count)) {}

  PlacementResult run() {
    for (std::size_t i = 0; i < space_.plans.size(); ++i) admit(i);
    while (!open_.empty() && open_.top().bound.count() < threshold()) {
      Open next = open_.top();
      open_.pop();
      if (next.knowledge == Knowledge::bounds) {
        refine(next);
      } else {
        weigh(next.plan);
      }
    }
    result_.counts.bounded = static_cast<std::int64_t>(open_.size());
    for (const Kept& kept : best_) result_.best.push_back(kept.placement);
    tell_nearest_miss();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::vector<std::int64_t> capacity_of(const PlanCosts& plan) const {
    return layer_capacity(plan, model_.layers, capacity_);
  }

  const LayerTimes& least_of(const std::string& share) {
    auto known = least_.find(share);
    if (known == least_.end()) {
      known = least_.emplace(share, least_times(space_.work.at(share), space_.operators, bounds_)).first;
    }
    return known->second;
  }

  void admit(std::size_t index) {
    const PlanCosts& plan = space_.plans[index];
    ++result_.counts.enumerated;
    if (!plan.problem.empty()) {
      ++result_.counts.rejected["invalid"];
      return;
    }
    const auto most = capacity_of(plan);
    if (!fits(plan, most, model_.layers)) {
      ++result_.counts.rejected["memory"];
      note_miss(index);
      return;
    }
    const LayerTimes least = least_of(plan.share) + plan.communication;
    open_.push({plan_bound(plan, least, model_.layers, most) + overhead_, index, Knowledge::bounds});
  }

  /// Even stages stand for the plan: its worst one against the capacity.
  void note_miss(std::size_t index) {
    const PlanCosts& plan = space_.plans[index];
    Bytes worst{};
    for (std::size_t s = 0; s < plan.memory.size(); ++s) {
      const std::int64_t further =
          plan.plan.schedule == PipelineSchedule::interleaved ? 0 : plan.plan.stage_layers[s] - 1;
      worst = std::max(worst, plan.memory[s] + plan.memory_per_layer[s] * further);
    }
    if (missed_ && missed_need_ <= worst) return;
    missed_ = index;
    missed_need_ = worst;
  }

  void tell_nearest_miss() {
    if (!missed_) return;
    const Plan& plan = space_.plans[*missed_].plan;
    std::string text;
    try {
      check_memory(build_program(model_, plan), capacity_);
    } catch (const InfeasibleError& error) {
      text = error.what();
    }
    result_.nearest_miss = NearestMiss{missed_need_, capacity_, fmt::format("{} ({})", text, describe(plan))};
  }

  /// The time that a plan must beat, in seconds.
  [[nodiscard]] double threshold() const {
    if (best_.size() < count_) return std::numeric_limits<double>::infinity();
    return to_seconds(best_.back().placement.time).count() * (1 + kRounding);
  }

  void refine(Open next) {
    const PlanCosts& plan = space_.plans[next.plan];
    try {
      const Seconds bound = plan_bound(plan, costs_.layer_times(plan), model_.layers, capacity_of(plan)) + overhead_;
      open_.push({std::max(next.bound, bound * (1 - kRounding)), next.plan, Knowledge::layers});
    } catch (const InfeasibleError&) {
      ++result_.counts.rejected["mapping"];
    }
  }

  void weigh(std::size_t index) {
    try {
      const PlanCosts& costs = space_.plans[index];
      Plan plan = costs.plan;
      std::optional<StageDivision> division;
      if (plan.pp > 1 && plan.schedule != PipelineSchedule::interleaved) {
        division = divide(costs);
        plan.stage_layers = division->layers;
      }
      const IterationAnswer answer = costs_.predicted(plan).iteration;
      if (division && !(division->proven && explains(*division, answer.time))) ++result_.unproven;
      keep(index, plan, answer);
      ++result_.counts.predicted;
    } catch (const InfeasibleError&) {
      ++result_.counts.rejected["mapping"];
    }
  }

  /// The stages were chosen by the time that is predicted. It is not where layers differ between stages (the network
  /// looks different there) or gradients are exchanged meanwhile.
  [[nodiscard]] bool explains(const StageDivision& division, Picoseconds predicted) const {
    const double expected = (division.time + overhead_).count();
    return std::abs(to_seconds(predicted).count() - expected) <= kRounding * expected;
  }

  StageDivision divide(const PlanCosts& costs) {
    StageProblem problem = stage_problem(costs, costs_.layer_times(costs), model_.layers, capacity_of(costs));
    problem.after = [&](std::int64_t stage, std::int64_t layers) { return costs_.after(costs, stage, layers); };
    return best_stages(problem, kStageNodes).value();
  }

  void keep(std::size_t index, const Plan& plan, const IterationAnswer& answer) {
    const Kept kept{index, {plan, answer.time, answer.tokens_per_second, answer.mfu}};
    best_.insert(std::upper_bound(best_.begin(), best_.end(), kept), kept);
    if (best_.size() > count_) best_.pop_back();
  }

  const SpaceCosts& space_;
  const TransformerModel& model_;
  Bytes capacity_;
  Seconds overhead_;
  const Chip& chip_;
  ChipCosts costs_;
  std::vector<Seconds> bounds_;  ///< of operators by number
  std::size_t count_;
  std::map<std::string, LayerTimes> least_;  ///< by share
  std::vector<Kept> best_;                   ///< fastest first
  PlacementResult result_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
  std::optional<std::size_t> missed_;
  Bytes missed_need_{};
};

}  // namespace

struct Placer::State {
  TransformerModel model;
  Cluster network;
  SpaceCosts space;
  mutable CommunicationMemo communication;                   ///< of the network, whatever the chip
  std::map<std::string, std::vector<std::size_t>> plans_of;  ///< possible plans by share
};

Placer::Placer(TransformerModel model, PlanSpace space, Cluster network) {
  auto state = std::make_unique<State>();
  state->space = space_costs(model, space, network);
  for (std::size_t i = 0; i < state->space.plans.size(); ++i) {
    const PlanCosts& plan = state->space.plans[i];
    if (plan.problem.empty()) state->plans_of[plan.share].push_back(i);
  }
  state->model = std::move(model);
  state->network = std::move(network);
  state_ = std::move(state);
}

Placer::Placer(Placer&&) noexcept = default;
Placer& Placer::operator=(Placer&&) noexcept = default;
Placer::~Placer() = default;

PlacementResult Placer::place(const Chip& chip, std::int64_t count) const {
  Cluster cluster = state_->network;
  cluster.chip = chip;
  return Placing(state_->space, state_->model, cluster, state_->communication, count).run();
}

Seconds Placer::least_time(const Chip& chip, Effort effort) const {
  const Bytes capacity = chip.hbm.capacity - state_->network.reserved_memory;
  const auto of_operators =
      bounds(state_->space, chip, effort == Effort::quick ? &OperatorBound::quick : &OperatorBound::close);
  Seconds least(std::numeric_limits<double>::infinity());
  for (const auto& [share, plans] : state_->plans_of) {
    const LayerTimes times = least_times(state_->space.work.at(share), state_->space.operators, of_operators);
    for (const std::size_t i : plans) {
      const PlanCosts& plan = state_->space.plans[i];
      const Seconds bound = average_bound(plan, times + plan.communication, state_->model.layers);
      if (bound >= least) continue;
      if (fits(plan, layer_capacity(plan, state_->model.layers, capacity), state_->model.layers)) least = bound;
    }
  }
  return least * (1 - kRounding) + state_->network.iteration_overhead;
}

PlacementCounts& PlacementCounts::operator+=(const PlacementCounts& other) {
  enumerated += other.enumerated;
  predicted += other.predicted;
  bounded += other.bounded;
  for (const auto& [reason, count] : other.rejected) rejected[reason] += count;
  return *this;
}

PlacementResult place(const Cluster& cluster, const TransformerModel& model, const PlanSpace& space,
                      std::int64_t count) {
  return Placer(model, space, cluster).place(cluster.chip, count);
}

}  // namespace tandem
