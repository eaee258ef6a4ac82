// SPDX-License-Identifier: Apache-2.0
#include "tools/answer_json.h"

#include <nlohmann/json.hpp>

#include "search/plan_json.h"
#include "tools/version.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

double seconds(Picoseconds time) { return to_seconds(time).count(); }

Json to_json(const OperatorAnswer& op) {
  return {{"slice", op.slice},
          {"name", op.name},
          {"kind", name_of(op.kind)},
          {"pass", name_of(op.pass)},
          {"start_s", seconds(op.start)},
          {"time_s", seconds(op.time)},
          {"flops", op.flops.value()},
          {"hbm_bytes", op.hbm_bytes.value()},
          {"utilisation", op.utilisation},
          {"time_by_cause_s", to_json(op.by_cause)}};
}

Json to_json(const LayerAnswer& layer) {
  return {{"name", layer.name},
          {"forward_s", seconds(layer.forward)},
          {"backward_s", seconds(layer.backward)},
          {"time_by_cause_s", to_json(layer.by_cause)}};
}

Json to_json(const StageAnswer& stage) {
  return {{"forward_s", seconds(stage.forward)},
          {"backward_s", seconds(stage.backward)},
          {"busy_s", seconds(stage.busy)},
          {"time_by_cause_s", to_json(stage.by_cause)},
          {"memory_bytes", to_json(stage.memory)}};
}

template <typename T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

}  // namespace

Json to_json(const TimeByCause& by_cause) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (by_cause.part[i].count() != 0) json[std::string(name_of(static_cast<Cause>(i)))] = seconds(by_cause.part[i]);
  }
  return json;
}

Json to_json(const MemoryFootprint& memory) {
  return {{"parameters", memory.parameters.value()}, {"gradients", memory.gradients.value()},
          {"optimizer", memory.optimizer.value()},   {"stash", memory.stash.value()},
          {"workspace", memory.workspace.value()},   {"total", memory.total().value()}};
}

Json to_json(const Scenario& scenario) {
  return {{"tandem", short_version()},          {"model", scenario.model.name},
          {"cluster", scenario.cluster.name},   {"chip", scenario.cluster.chip.name},
          {"devices", scenario.plan.devices()}, {"plan", plan_json(scenario.plan)}};
}

Json to_json(const Answer& answer) {
  const IterationAnswer& iteration = answer.iteration;
  return {{"iteration",
           {{"time_s", seconds(iteration.time)},
            {"tokens_per_second", iteration.tokens_per_second},
            {"mfu", iteration.mfu},
            {"time_by_cause_s", to_json(iteration.by_cause)}}},
          {"stages", list_of(answer.stages)},
          {"layers", list_of(answer.layers)},
          {"operators", list_of(answer.operators)},
          {"assumptions", answer.assumptions}};
}

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace tandem
