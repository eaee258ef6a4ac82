// SPDX-License-Identifier: Apache-2.0
#include "search/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "arch/support/error.h"
#include "search/chip_costs.h"
#include "search/plan_costs.h"
#include "search/plan_json.h"

namespace tandem {
namespace {

constexpr std::int64_t kStageNodes = 2000;
// Answers are whole picoseconds; sums of them are this close to sums of unrounded times.
constexpr double kRounding = 1e-9;

/// Where a plan stands: nothing but the chip's peak is known, its layers are predicted, all of it is.
enum class Knowledge { peak, layers };

struct Open {
  Seconds bound{};
  std::size_t plan = 0;
  Knowledge knowledge = Knowledge::peak;

  bool operator>(const Open& other) const { return std::tie(bound, plan) > std::tie(other.bound, other.plan); }
};

struct Kept {
  std::size_t index = 0;
  Placement placement;

  bool operator<(const Kept& other) const {
    return std::tie(placement.time, index) < std::tie(other.placement.time, other.index);
  }
};

/// Tensor-core operations of the average device over the iteration, by data type.
std::map<DataType, double> device_flops(const PlanCosts& costs, const LayerFlops& flops, std::int64_t layers) {
  std::map<DataType, double> sum;
  const std::array<double, 3> count{1, static_cast<double>(layers), 1};
  const auto share = static_cast<double>(costs.plan.microbatches()) / static_cast<double>(costs.plan.pp);
  for (std::size_t i = 0; i < flops.size(); ++i) {
    for (const auto* pass : {&flops[i].forward, &flops[i].backward}) {
      for (const auto& [type, value] : *pass) sum[type] += value * count[i] * share;
    }
  }
  return sum;
}

bool no_more_than(const std::map<DataType, double>& a, const std::map<DataType, double>& b) {
  return std::all_of(a.begin(), a.end(), [&b](const auto& entry) {
    const auto other = b.find(entry.first);
    return other != b.end() && entry.second <= other->second;
  });
}

/// One placement under way.
class Placing {
 public:
  Placing(const SpaceCosts& space, const TransformerModel& model, const Cluster& cluster, std::int64_t count)
      : space_(space),
        model_(model),
        capacity_(cluster.chip.hbm.capacity - cluster.reserved_memory),
        overhead_(cluster.iteration_overhead),
        chip_(cluster.chip),
        costs_(cluster, model),
        count_(static_cast<std::size_t>(count)) {}

  PlacementResult run() {
    for (std::size_t i = 0; i < space_.plans.size(); ++i) admit(i);
    while (!open_.empty() && open_.top().bound.count() < threshold()) {
      Open next = open_.top();
      open_.pop();
      if (next.knowledge == Knowledge::peak) {
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

  [[nodiscard]] bool fits(const PlanCosts& plan, const std::vector<std::int64_t>& most) const {
    std::int64_t sum = 0;
    for (const std::int64_t layers : most) {
      if (layers < 1) return false;
      sum += layers;
    }
    return plan.plan.schedule == PipelineSchedule::interleaved || sum >= model_.layers;
  }

  void admit(std::size_t index) {
    const PlanCosts& plan = space_.plans[index];
    ++result_.counts.enumerated;
    if (!plan.problem.empty()) {
      ++result_.counts.rejected["invalid"];
      return;
    }
    const auto most = capacity_of(plan);
    if (!fits(plan, most)) {
      ++result_.counts.rejected["memory"];
      note_miss(index);
      return;
    }
    const LayerTimes least = least_times(space_.flops.at(plan.share), chip_) + plan.communication;
    open_.push({plan_bound(plan, least, model_.layers, most) + overhead_, index, Knowledge::peak});
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
  std::size_t count_;
  std::vector<Kept> best_;  ///< fastest first
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
  std::vector<std::map<DataType, double>> least_flops;  ///< of the average device; none is below another
};

Placer::Placer(TransformerModel model, PlanSpace space, Cluster network) {
  auto state = std::make_unique<State>();
  state->space = space_costs(model, space, network);
  for (const PlanCosts& plan : state->space.plans) {
    if (!plan.problem.empty()) continue;
    auto flops = device_flops(plan, state->space.flops.at(plan.share), model.layers);
    auto& least = state->least_flops;
    if (std::any_of(least.begin(), least.end(), [&](const auto& known) { return no_more_than(known, flops); }))
      continue;
    std::erase_if(least, [&](const auto& known) { return no_more_than(flops, known); });
    least.push_back(std::move(flops));
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
  return Placing(state_->space, state_->model, cluster, count).run();
}

Seconds Placer::least_time(const Chip& chip) const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& flops : state_->least_flops) {
    double time = 0;
    for (const auto& [type, count] : flops) {
      if (count > 0 && chip.supports(type)) time += count / chip.peak(type).value();
    }
    least = std::min(least, time);
  }
  return Seconds(least);
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
