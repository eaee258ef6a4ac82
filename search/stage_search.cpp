// SPDX-License-Identifier: Apache-2.0
#include "search/stage_search.h"

#include <algorithm>
#include <cstdlib>

namespace tandem {
namespace {

// Sums in another order may differ in the last bits: a bound this close to the best counts as reached.
constexpr double kRounding = 1e-12;

using Division = std::vector<std::int64_t>;

std::int64_t stages(const StageProblem& problem) { return static_cast<std::int64_t>(problem.fixed.size()); }

Seconds forward(const StageProblem& problem, std::int64_t stage, std::int64_t layers) {
  return problem.fixed[static_cast<std::size_t>(stage)].forward + static_cast<double>(layers) * problem.layer_forward;
}
Seconds backward(const StageProblem& problem, std::int64_t stage, std::int64_t layers) {
  return problem.fixed[static_cast<std::size_t>(stage)].backward + static_cast<double>(layers) * problem.layer_backward;
}

/// One microbatch through all stages and back: the same for every division.
Seconds round_trip(const StageProblem& problem) {
  Seconds sum = static_cast<double>(problem.layers) * (problem.layer_forward + problem.layer_backward);
  for (std::int64_t s = 0; s < stages(problem); ++s) {
    const StageTimes& fixed = problem.fixed[static_cast<std::size_t>(s)];
    sum += fixed.forward + fixed.backward;
    if (s + 1 < stages(problem)) sum += fixed.send_forward;
    if (s > 0) sum += fixed.send_backward;
  }
  return sum;
}

/// What a stage must do beside one round trip, before the first microbatch comes back or after the last has gone out.
/// GPipe: all forwards precede all backwards. 1F1B: of the w microbatches in flight, w - 1 forwards may hide behind the
/// first round trip, or w - 1 backwards behind the last.
Seconds beside_round_trip(const StageProblem& problem, std::int64_t stage, std::int64_t layers) {
  const Seconds f = forward(problem, stage, layers);
  const Seconds b = backward(problem, stage, layers);
  const auto m = static_cast<double>(problem.microbatches);
  if (problem.schedule == PipelineSchedule::gpipe) return (m - 1) * (f + b);
  const auto w = static_cast<double>(std::min(problem.microbatches, stages(problem) - stage));
  return (m - w) * (f + b) + (w - 1) * std::max(f, b);
}

/// Most layers of a stage for which its bound does not exceed `time`; 0 if not even one.
std::int64_t most_layers(const StageProblem& problem, std::int64_t stage, Seconds beside) {
  std::int64_t low = 0;
  std::int64_t high = std::min(problem.capacity[static_cast<std::size_t>(stage)], problem.layers);
  while (low < high) {
    const std::int64_t middle = (low + high + 1) / 2;
    if (beside_round_trip(problem, stage, middle) <= beside) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

std::vector<std::int64_t> most_layers(const StageProblem& problem, Seconds beside) {
  std::vector<std::int64_t> most;
  for (std::int64_t s = 0; s < stages(problem); ++s) most.push_back(most_layers(problem, s, beside));
  return most;
}

/// Each stage gets one layer at least, and all of them together hold the layers.
bool holds(const StageProblem& problem, const std::vector<std::int64_t>& most) {
  std::int64_t sum = 0;
  for (const std::int64_t layers : most) {
    if (layers < 1) return false;
    sum += layers;
  }
  return sum >= problem.layers;
}

/// Least threshold of beside_round_trip that some division meets.
std::optional<Seconds> least_threshold(const StageProblem& problem) {
  std::vector<Seconds> thresholds;
  for (std::int64_t s = 0; s < stages(problem); ++s) {
    const std::int64_t most = std::min(problem.capacity[static_cast<std::size_t>(s)], problem.layers);
    for (std::int64_t l = 1; l <= most; ++l) thresholds.push_back(beside_round_trip(problem, s, l));
  }
  std::sort(thresholds.begin(), thresholds.end());
  const auto found = std::partition_point(thresholds.begin(), thresholds.end(), [&problem](Seconds threshold) {
    return !holds(problem, most_layers(problem, threshold));
  });
  if (found == thresholds.end()) return std::nullopt;
  return *found;
}

/// The division within `most` that is as even as can be, the earlier stages taking the remainder.
Division even_within(const StageProblem& problem, const std::vector<std::int64_t>& most) {
  Division division(most.size(), 1);
  for (auto left = problem.layers - stages(problem); left > 0; --left) {
    std::size_t least = most.size();
    for (std::size_t s = 0; s < most.size(); ++s) {
      if (division[s] < most[s] && (least == most.size() || division[s] < division[least])) least = s;
    }
    ++division[least];
  }
  return division;
}

class BranchAndBound {
 public:
  BranchAndBound(const StageProblem& problem, std::int64_t node_limit, StageDivision start)
      : problem_(problem), nodes_left_(node_limit), round_trip_(round_trip(problem)), best_(std::move(start)) {
    partial_.reserve(problem.fixed.size());
  }

  StageDivision run() {
    descend(problem_.layers, Seconds(0));
    return best_;
  }

 private:
  [[nodiscard]] bool worth(Seconds bound) const { return bound < best_.time * (1 - kRounding); }

  /// Bound on every division that begins with the stages chosen so far and `layers` in the next one. The device of the
  /// first stage ends last in the pipeline.
  [[nodiscard]] Seconds bound(std::int64_t layers, Seconds before) const {
    const auto stage = static_cast<std::int64_t>(partial_.size());
    const Seconds busy = forward(problem_, stage, layers) + backward(problem_, stage, layers);
    const Seconds pipeline = std::max(round_trip_ + beside_round_trip(problem_, stage, layers),
                                      before + static_cast<double>(problem_.microbatches) * busy);
    return pipeline + problem_.after(0, partial_.empty() ? layers : partial_.front());
  }

  /// Stages still open can hold `left` layers at less than the best time.
  [[nodiscard]] bool completes(std::int64_t left) const {
    const auto first_open = static_cast<std::int64_t>(partial_.size());
    const Seconds after = problem_.after(0, partial_.front());
    std::int64_t room = 0;
    for (std::int64_t s = first_open; s < stages(problem_); ++s) {
      room += most_layers(problem_, s, best_.time - after - round_trip_);
    }
    return room >= left;
  }

  /// `before`: one round trip through the stages chosen so far.
  void descend(std::int64_t left, Seconds before) {
    const auto stage = static_cast<std::int64_t>(partial_.size());
    if (stage == stages(problem_)) {
      const Seconds time = stage_time(problem_, partial_);
      if (worth(time)) best_ = {partial_, time, best_.proven};
      return;
    }
    const std::int64_t open_after = stages(problem_) - stage - 1;
    const std::int64_t most = std::min(left - open_after, problem_.capacity[static_cast<std::size_t>(stage)]);
    const std::int64_t least = open_after == 0 ? left : 1;
    const std::int64_t middle = std::clamp((left + open_after) / (open_after + 1), least, std::max(least, most));
    for (std::int64_t distance = 0; distance <= most - least; ++distance) {
      if (middle + distance <= most) choose(middle + distance, left, before);
      if (distance > 0 && middle - distance >= least) choose(middle - distance, left, before);
    }
  }

  void choose(std::int64_t layers, std::int64_t left, Seconds before) {
    const auto stage = static_cast<std::int64_t>(partial_.size());
    if (!worth(bound(layers, before))) return;
    if (nodes_left_ == 0) {
      best_.proven = false;
      return;
    }
    --nodes_left_;
    partial_.push_back(layers);
    if (completes(left - layers)) {
      descend(left - layers, before + forward(problem_, stage, layers) + backward(problem_, stage, layers));
    }
    partial_.pop_back();
  }

  const StageProblem& problem_;
  std::int64_t nodes_left_;
  Seconds round_trip_;
  StageDivision best_;
  Division partial_;
};

}  // namespace

Seconds stage_time(const StageProblem& problem, const std::vector<std::int64_t>& layers) {
  std::vector<StageTimes> times = problem.fixed;
  for (std::int64_t s = 0; s < stages(problem); ++s) {
    const auto i = static_cast<std::size_t>(s);
    times[i].forward = forward(problem, s, layers[i]);
    times[i].backward = backward(problem, s, layers[i]);
  }
  const PipelineTime pipeline = pipeline_time(problem.schedule, problem.microbatches, 1, times);
  Seconds latest(0);
  for (std::size_t s = 0; s < times.size(); ++s) {
    latest = std::max(latest, pipeline.end[s] + problem.after(static_cast<std::int64_t>(s), layers[s]));
  }
  return latest;
}

Seconds stage_bound(const StageProblem& problem) {
  const auto threshold = least_threshold(problem);
  return threshold ? round_trip(problem) + *threshold + problem.after(0, 1) : Seconds::max();
}

std::optional<StageDivision> best_stages(const StageProblem& problem, std::int64_t node_limit) {
  if (!holds(problem, problem.capacity)) return std::nullopt;
  StageDivision start;
  start.layers = even_within(problem, problem.capacity);
  start.time = stage_time(problem, start.layers);
  const Division balanced = even_within(problem, most_layers(problem, *least_threshold(problem)));
  const Seconds time = stage_time(problem, balanced);
  if (time < start.time * (1 - kRounding)) start = {balanced, time, true};
  return BranchAndBound(problem, node_limit, start).run();
}

}  // namespace tandem
