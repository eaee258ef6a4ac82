// SPDX-License-Identifier: Apache-2.0
#include "tools/answer_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "arch/support/units.h"
#include "tools/text_table.h"

namespace tandem {
namespace {

constexpr std::size_t kOperatorsShown = 12;

double share(Picoseconds part, Picoseconds whole) {
  return whole.count() == 0 ? 0.0 : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::string iteration_text(const Scenario& scenario, const IterationAnswer& iteration) {
  const double devices = static_cast<double>(scenario.plan.devices());
  return fmt::format("iteration  {}\nthroughput {:.6g} tokens/s, {:.5g} per device\nMFU        {}\n",
                     to_text(iteration.time), iteration.tokens_per_second, iteration.tokens_per_second / devices,
                     percent(iteration.mfu));
}

std::string stage_table(const Program& program, const Answer& answer) {
  const std::size_t devices = answer.stages.size();
  TextTable table({"stage", "layers", "forward", "backward", "busy", "mostly"});
  for (std::size_t s = 0; s < devices; ++s) {
    std::vector<std::int64_t> layers;
    for (std::size_t v = s; v < program.plan.stage_layers.size(); v += devices)
      layers.push_back(program.plan.stage_layers[v]);
    const StageAnswer& stage = answer.stages[s];
    table.add({std::to_string(s), fmt::format("{}", fmt::join(layers, "+")), to_text(stage.forward),
               to_text(stage.backward), percent(share(stage.busy, answer.iteration.time)),
               std::string(name_of(main_cause(stage.by_cause)))});
  }
  return table.text();
}

std::string layer_table(const Answer& answer) {
  TextTable table({"layer", "forward", "backward", "mostly"});
  for (const LayerAnswer& layer : answer.layers) {
    table.add({layer.name, to_text(layer.forward), to_text(layer.backward),
               std::string(name_of(main_cause(layer.by_cause)))});
  }
  return table.text();
}

std::string operator_table(const Answer& answer) {
  std::vector<std::size_t> order(answer.operators.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return answer.operators[a].time > answer.operators[b].time; });
  order.resize(std::min(order.size(), kOperatorsShown));
  TextTable table({"operator", "slice", "pass", "time", "of peak", "HBM traffic", "mostly"});
  for (const std::size_t i : order) {
    const OperatorAnswer& op = answer.operators[i];
    table.add({op.name, op.slice, std::string(name_of(op.pass)), to_text(op.time), percent(op.utilisation),
               to_text(op.hbm_bytes), std::string(name_of(main_cause(op.by_cause)))});
  }
  return table.text();
}

}  // namespace

std::string heading(const Scenario& scenario) {
  return fmt::format("model      {}\nmachine    {} x {} ({})\nplan       {}\n", scenario.model.name,
                     scenario.cluster.devices(), scenario.cluster.chip.name, scenario.cluster.name,
                     plan_summary(scenario.plan));
}

Cause main_cause(const TimeByCause& by_cause) {
  const auto largest = std::max_element(by_cause.part.begin(), by_cause.part.end());
  return static_cast<Cause>(largest - by_cause.part.begin());
}

std::string cause_table(const TimeByCause& by_cause) {
  std::vector<std::size_t> order(kCauses);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return by_cause.part[a] > by_cause.part[b]; });
  TextTable table({"cause", "time", "share"});
  for (const std::size_t i : order) {
    if (by_cause.part[i].count() == 0) continue;
    table.add({std::string(name_of(static_cast<Cause>(i))), to_text(by_cause.part[i]),
               percent(share(by_cause.part[i], by_cause.total()))});
  }
  return table.text();
}

std::string memory_table(const std::vector<MemoryFootprint>& stages, const Cluster& cluster) {
  const Bytes usable = cluster.chip.hbm.capacity - cluster.reserved_memory;
  TextTable table({"stage", "parameters", "gradients", "optimizer", "stash", "workspace", "total", "left"});
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const MemoryFootprint& memory = stages[s];
    table.add({std::to_string(s), to_text(memory.parameters), to_text(memory.gradients), to_text(memory.optimizer),
               to_text(memory.stash), to_text(memory.workspace), to_text(memory.total()),
               to_text(usable - memory.total())});
  }
  return table.text();
}

std::string listed(const std::vector<std::string>& assumptions) {
  std::string text;
  for (const std::string& line : assumptions) text += "  - " + line + "\n";
  return text;
}

std::string answer_text(const Scenario& scenario, const Program& program, const Answer& answer) {
  std::string text = iteration_text(scenario, answer.iteration);
  text += "\ntime of the iteration by cause\n" + cause_table(answer.iteration.by_cause);
  text += "\nstages (one microbatch; busy: of the iteration)\n" + stage_table(program, answer);
  text += fmt::format("\nmemory of a device ({} of {} usable)\n",
                      to_text(scenario.cluster.chip.hbm.capacity - scenario.cluster.reserved_memory),
                      to_text(scenario.cluster.chip.hbm.capacity));
  text += memory_table(program.memory, scenario.cluster);
  text += "\nlayers (one microbatch, collectives included)\n" + layer_table(answer);
  text += "\nslowest operators\n" + operator_table(answer);
  if (!answer.assumptions.empty()) text += "\nassumptions\n" + listed(answer.assumptions);
  return text;
}

}  // namespace tandem
