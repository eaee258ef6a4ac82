// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/timeline.h"

#include <algorithm>

#include "workloads/pipeline.h"

namespace tandem {
namespace {

class TimelineBuilder {
 public:
  explicit TimelineBuilder(const StepCosts& costs, Phase phase = Phase::layers) : costs_(costs), phase_(phase) {}

  void add(const Step& step) {
    if (const auto* compute = std::get_if<ComputeStep>(&step)) {
      add_slice(compute->slice);
    } else {
      add_collective(std::get<CollectiveStep>(step));
    }
  }
  /// One pass of a layer: its steps, and what its host still needs when the device is done with them.
  void add_pass(const std::vector<Step>& steps, Picoseconds host = {}) {
    worked_ = Picoseconds(0);
    host_ = host;
    for (const Step& step : steps) add(step);
    const Picoseconds wait = host_wait(worked_, host_);
    if (wait == Picoseconds(0)) return;
    Segment& segment = busy();
    segment.time += wait;
    segment.by_cause[Cause::software] += wait;
  }
  void add_bucket(const Collective& collective) {
    if (costs_.collective(Axis::data, collective, phase_).play == CollectivePlay::none) return;
    timeline_.push_back({.kind = SegmentKind::bucket, .axis = Axis::data, .collective = collective});
  }
  Timeline take() { return std::move(timeline_); }

 private:
  Segment& busy() {
    if (timeline_.empty() || timeline_.back().kind != SegmentKind::busy) timeline_.emplace_back();
    return timeline_.back();
  }
  void add_slice(std::int32_t slice) {
    const SliceAnswer& answer = costs_.slices[static_cast<std::size_t>(slice)];
    Segment& segment = busy();
    if (costs_.record == StepCosts::Record::slices) segment.slices.push_back({segment.time, slice});
    segment.time += answer.time;
    segment.by_cause += answer.by_cause;
    worked_ += answer.time;
    host_ += answer.host;
  }
  void add_collective(const CollectiveStep& call) {
    const CollectiveCost cost = costs_.collective(call.axis, call.collective, phase_);
    worked_ += cost.alone.time;
    host_ += costs_.collective_host;
    if (cost.play == CollectivePlay::alone) {
      Segment& segment = busy();
      segment.time += cost.alone.time;
      segment.by_cause += causes_of(call.axis, cost.alone);
    } else if (cost.play == CollectivePlay::contended) {
      timeline_.push_back({.kind = SegmentKind::collective, .axis = call.axis, .collective = call.collective});
    }
  }

  const StepCosts& costs_;
  Phase phase_;
  Timeline timeline_;
  Picoseconds worked_{}, host_{};  ///< of the pass so far
};

/// Layers of a stage in forward order, each run of equal layers written out.
std::vector<const LayerProgram*> layers_of(const Program& program, const StageProgram& stage) {
  std::vector<const LayerProgram*> layers;
  for (const LayerRun& run : stage.layers) {
    layers.insert(layers.end(), static_cast<std::size_t>(run.count),
                  &program.layers[static_cast<std::size_t>(run.layer)]);
  }
  return layers;
}

enum class Buckets { none, as_they_come };

/// `pass`: which steps of a layer.
Timeline backward_timeline(const Program& program, const StageProgram& stage, const StepCosts& costs, Buckets when,
                           std::vector<Step> LayerProgram::*pass) {
  const std::vector<const LayerProgram*> layers = layers_of(program, stage);
  const std::size_t buckets = when == Buckets::none ? 0 : stage.gradient_buckets.size();
  TimelineBuilder builder(costs);
  std::size_t sent = 0;
  for (std::size_t done = 1; done <= layers.size(); ++done) {
    builder.add_pass(layers[layers.size() - done]->*pass);
    // One bucket a layer, or spread evenly where there are more or fewer.
    for (; sent < buckets && (sent + 1) * layers.size() <= done * buckets; ++sent) {
      builder.add_bucket(bucket_collective(program.plan, stage.gradient_buckets[sent]));
    }
  }
  return builder.take();
}

}  // namespace

TimeByCause causes_of(Axis axis, const CollectiveTime& alone) {
  TimeByCause causes;
  const Picoseconds software = std::min(alone.software, alone.time);
  causes[Cause::software] = software;
  causes[cause_of(axis)] = alone.time - software;
  return causes;
}

StageTimelines stage_timelines(const Program& program, std::size_t stage_index, const StepCosts& costs) {
  const StageProgram& stage = program.stages[stage_index];
  StageTimelines timelines;
  TimelineBuilder forward(costs);
  for (const LayerProgram* layer : layers_of(program, stage)) {
    const bool head = layer - program.layers.data() == kHeadLayer;
    forward.add_pass(layer->forward, head ? costs.microbatch_host : Picoseconds(0));
  }
  timelines.forward = forward.take();
  const auto gradients = splits_backward(program.plan.schedule) ? &LayerProgram::weight : &LayerProgram::backward;
  timelines.backward = backward_timeline(program, stage, costs, Buckets::none, &LayerProgram::backward);
  timelines.last_backward = timelines.backward;
  timelines.weight = backward_timeline(program, stage, costs, Buckets::none, &LayerProgram::weight);
  timelines.last_weight = timelines.weight;
  auto& last = splits_backward(program.plan.schedule) ? timelines.last_weight : timelines.last_backward;
  last = backward_timeline(program, stage, costs, Buckets::as_they_come, gradients);
  TimelineBuilder after(costs, Phase::after);
  for (const Step& step : stage.after) after.add(step);
  timelines.after = after.take();
  return timelines;
}

TimeByCause time_alone(std::span<const Step> steps, const StepCosts& costs, Picoseconds host) {
  TimeByCause total;
  for (const Step& step : steps) {
    if (const auto* compute = std::get_if<ComputeStep>(&step)) {
      host += costs.slices[static_cast<std::size_t>(compute->slice)].host;
      total += costs.slices[static_cast<std::size_t>(compute->slice)].by_cause;
    } else {
      const auto& call = std::get<CollectiveStep>(step);
      host += costs.collective_host;
      total += causes_of(call.axis, costs.collective(call.axis, call.collective, Phase::layers).alone);
    }
  }
  total[Cause::software] += host_wait(total.total(), host);
  return total;
}

}  // namespace tandem
