// SPDX-License-Identifier: Apache-2.0
#include "search/chip_costs.h"

#include <algorithm>

#include "search/mapper.h"
#include "search/predict.h"

namespace tandem {
namespace {

/// The mapped slice with this graph, if there is one.
const Slice* find_mapped(const std::map<std::string, std::vector<Slice>>& mapped, const Slice& slice) {
  const auto named = mapped.find(slice.name);
  if (named == mapped.end()) return nullptr;
  const auto found = std::find_if(named->second.begin(), named->second.end(),
                                  [&slice](const Slice& known) { return known.graph == slice.graph; });
  return found == named->second.end() ? nullptr : &*found;
}

/// Sum over the slices among `steps`.
Seconds slices_time(const std::vector<Step>& steps, const Answer& answer, Picoseconds SliceAnswer::*part) {
  Picoseconds sum{};
  for (const Step& step : steps) {
    const auto* compute = std::get_if<ComputeStep>(&step);
    if (compute != nullptr) sum += answer.slices[static_cast<std::size_t>(compute->slice)].*part;
  }
  return to_seconds(sum);
}

}  // namespace

void ChipCosts::map_slices(Program& program) {
  Program open;
  open.model = program.model;
  open.plan = program.plan;
  for (const Slice& slice : program.slices) {
    if (find_mapped(mapped_, slice) == nullptr) open.slices.push_back(slice);
  }
  map_program(cluster_.chip, open);
  for (Slice& slice : open.slices) mapped_[slice.name].push_back(std::move(slice));
  for (Slice& slice : program.slices) slice = *find_mapped(mapped_, slice);
}

Program ChipCosts::mapped(const TransformerModel& model, const Plan& plan) {
  Program program = build_program(model, plan);
  map_slices(program);
  return program;
}

Answer ChipCosts::predicted(const Plan& plan) { return predict(cluster_, mapped(model_, plan), &memo_); }

LayerTimes ChipCosts::layer_times(const PlanCosts& costs) {
  auto known = compute_times_.find(costs.share);
  if (known == compute_times_.end()) {
    const Program program = mapped(model_, costs.plan);
    const Answer answer = predict(cluster_, program, &memo_);
    LayerCompute times;
    for (std::size_t i = 0; i < times.device.size(); ++i) {
      const LayerProgram& layer = program.layers.at(i);
      times.device[i] = {slices_time(layer.forward, answer, &SliceAnswer::time),
                         slices_time(layer.backward, answer, &SliceAnswer::time)};
      times.host[i] = {slices_time(layer.forward, answer, &SliceAnswer::host),
                       slices_time(layer.backward, answer, &SliceAnswer::host)};
    }
    known = compute_times_.emplace(costs.share, times).first;
  }
  LayerTimes times = known->second.device + costs.communication;
  const LayerTimes host = known->second.host + costs.issue;
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i].forward = std::max(times[i].forward, host[i].forward);
    times[i].backward = std::max(times[i].backward, host[i].backward);
  }
  return times;
}

std::vector<Seconds> ChipCosts::endings(const PlanCosts& costs, std::int64_t layers) {
  const Plan plan = with_layers_everywhere(costs.plan, layers);
  const Program program = mapped(model_of(model_, plan), plan);
  const Answer answer = predict(cluster_, program, &memo_);
  Communication communication(cluster_, plan, &memo_);
  std::vector<Seconds> endings;
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const std::vector<Step>& steps = program.stages[s].after;
    Picoseconds time = communication_time(communication, steps, static_cast<std::int64_t>(s));
    for (const Step& step : steps) {
      const auto* compute = std::get_if<ComputeStep>(&step);
      if (compute != nullptr) time += answer.slices[static_cast<std::size_t>(compute->slice)].time;
    }
    endings.push_back(to_seconds(time));
  }
  return endings;
}

Seconds ChipCosts::after(const PlanCosts& costs, std::int64_t stage, std::int64_t layers) {
  const auto key = std::make_pair(&costs, layers);
  auto known = endings_.find(key);
  if (known == endings_.end()) known = endings_.emplace(key, endings(costs, layers)).first;
  return known->second[static_cast<std::size_t>(stage)];
}

}  // namespace tandem
