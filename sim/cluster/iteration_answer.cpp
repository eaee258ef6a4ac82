// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/iteration_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tandem {
namespace {

StageAnswer stage_answer(const StageUse& use, const MemoryFootprint& memory, std::int64_t microbatches,
                         Picoseconds run_time, Picoseconds iteration_overhead) {
  StageAnswer stage;
  stage.forward = use.first.forward / microbatches;
  stage.backward = use.first.backward / microbatches;
  stage.busy = use.first.busy;
  stage.by_cause = use.first.by_cause;
  stage.by_cause[Cause::bubble] += run_time - use.first.end;
  stage.by_cause[Cause::software] += iteration_overhead;
  stage.memory = memory;
  return stage;
}

void require_sum(const TimeByCause& causes, Picoseconds time) {
  if (causes.total() == time) return;
  throw std::logic_error(fmt::format("times by cause add up to {} ps of {} ps", causes.total().count(), time.count()));
}

}  // namespace

void add_iteration(Answer& answer, const Cluster& cluster, const Program& program, const ClusterRun& run) {
  const Plan& plan = program.plan;
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    LayerAnswer layer{.name = program.layers[i].name,
                      .forward = run.layer_forward[i].total(),
                      .backward = run.layer_backward[i].total(),
                      .by_cause = run.layer_forward[i]};
    layer.by_cause += run.layer_backward[i];
    answer.layers.push_back(std::move(layer));
  }
  const Picoseconds overhead = to_picoseconds(cluster.iteration_overhead);
  IterationAnswer& iteration = answer.iteration;
  iteration.time = run.time + overhead;
  for (std::size_t i = 0; i < run.stages.size(); ++i) {
    const MemoryFootprint memory = i < program.memory.size() ? program.memory[i] : MemoryFootprint{};
    answer.stages.push_back(stage_answer(run.stages[i], memory, plan.microbatches(), run.time, overhead));
    require_sum(answer.stages.back().by_cause, iteration.time);
  }
  const auto busiest = std::max_element(answer.stages.begin(), answer.stages.end(),
                                        [](const auto& a, const auto& b) { return a.busy < b.busy; });
  iteration.by_cause = busiest->by_cause;
  const double seconds = to_seconds(iteration.time).count();
  if (seconds <= 0) return;
  iteration.tokens_per_second = static_cast<double>(checked_product(plan.global_batch, plan.sequence)) / seconds;
  const double peak = cluster.chip.peak(plan.dtype).value() * static_cast<double>(plan.devices());
  if (peak > 0) iteration.mfu = model_flops(program.model, plan.global_batch, plan.sequence) / (peak * seconds);
  if (iteration.mfu > 1) throw std::logic_error(fmt::format("model FLOPs at {} of the dense peak", iteration.mfu));
}

}  // namespace tandem
