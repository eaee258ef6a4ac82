// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/cluster_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "sim/cluster/collective_costs.h"
#include "sim/kernel/context.h"
#include "workloads/pipeline.h"

namespace tandem {
namespace {

/// Timelines of every executor; executors whose collectives take the same time share them.
class TimelineStore {
 public:
  TimelineStore(const Program& program, std::span<const SliceAnswer> slices, StepCosts::Record record,
                const Cluster& cluster, CollectiveCosts& collectives)
      : program_(program),
        slices_(slices),
        record_(record),
        collective_host_(to_picoseconds(cluster.issue_overhead)),
        microbatch_host_(to_picoseconds(cluster.microbatch_overhead)),
        collectives_(collectives) {}

  [[nodiscard]] StepCosts costs(std::int64_t device) {
    return {.slices = slices_,
            .collective = [this, device](Axis axis, const Collective& collective,
                                         Phase phase) { return collectives_.cost(device, axis, collective, phase); },
            .record = record_,
            .collective_host = collective_host_,
            .microbatch_host = microbatch_host_};
  }
  const StageTimelines& get(std::int64_t device, std::size_t stage) {
    std::vector<std::int64_t> key{static_cast<std::int64_t>(stage)};
    const std::int64_t position = static_cast<std::int64_t>(stage) % program_.plan.pp;
    for (std::size_t a = 0; a < kAxes; ++a) {
      for (const Phase phase : {Phase::layers, Phase::after}) {
        for (const Collective& collective : collectives_of(program_, position, static_cast<Axis>(a), phase)) {
          const CollectiveCost cost = collectives_.cost(device, static_cast<Axis>(a), collective, phase);
          key.insert(key.end(),
                     {static_cast<std::int64_t>(cost.play), cost.alone.time.count(), cost.alone.software.count()});
        }
      }
    }
    const auto found = known_.find(key);
    if (found != known_.end()) return *found->second;
    auto timelines = std::make_unique<StageTimelines>(stage_timelines(program_, stage, costs(device)));
    return *known_.emplace(std::move(key), std::move(timelines)).first->second;
  }

 private:
  const Program& program_;
  std::span<const SliceAnswer> slices_;
  StepCosts::Record record_;
  Picoseconds collective_host_, microbatch_host_;
  CollectiveCosts& collectives_;
  std::map<std::vector<std::int64_t>, std::unique_ptr<StageTimelines>> known_;
};

std::size_t executor_index(const Plan& plan, std::int64_t pp, std::int64_t dp, std::int64_t cp) {
  return static_cast<std::size_t>((pp * plan.dp + dp) * plan.cp + cp);
}

std::string executor_name(std::int64_t pp, std::int64_t dp, std::int64_t cp) {
  return fmt::format("stage{}.dp{}.cp{}", pp, dp, cp);
}

ExecutorSpec executor_spec(const Cluster& cluster, const Program& program, const Coordinates& at,
                           TimelineStore& timelines, const ClusterUnits& units) {
  const Plan& plan = program.plan;
  ExecutorSpec spec;
  spec.name = executor_name(at.pp, at.dp, at.cp);
  for (std::int64_t rank = 0; rank < plan.tp; ++rank) {
    spec.devices.push_back(device_at(plan, {.tp = rank, .cp = at.cp, .dp = at.dp, .pp = at.pp}));
  }
  spec.microbatches = plan.microbatches();
  spec.total_stages = static_cast<std::int64_t>(program.stages.size());
  const std::int64_t chunks = stages_per_device(program);
  spec.tasks = pipeline_tasks(plan.schedule, plan.pp, at.pp, spec.microbatches, chunks);
  spec.in_flight = std::max<std::int64_t>(1, in_flight(plan.schedule, plan.pp, at.pp, spec.microbatches, chunks));
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const auto stage = static_cast<std::size_t>(chunk * plan.pp + at.pp);
    spec.stages.push_back({.stage = static_cast<std::int64_t>(stage),
                           .timelines = &timelines.get(spec.devices.front(), stage),
                           .send_forward = program.stages[stage].send_forward,
                           .send_backward = program.stages[stage].send_backward});
  }
  const auto position = static_cast<std::size_t>(at.pp);
  if (position < program.memory.size()) spec.memory = program.memory[position];
  spec.blocking_sends = plan.blocking_sends;
  spec.splits_backward = splits_backward(plan.schedule);
  spec.send_overhead = to_picoseconds(cluster.overhead.send);
  const std::size_t index = executor_index(plan, at.pp, at.dp, at.cp);
  if (index < units.executors.size()) spec.unit = units.executors[index];
  return spec;
}

using Executors = std::vector<std::unique_ptr<PipelineExecutor>>;

void bind_neighbours(const Plan& plan, Executors& executors) {
  for (std::int64_t pp = 0; pp < plan.pp; ++pp) {
    for (std::int64_t dp = 0; dp < plan.dp; ++dp) {
      for (std::int64_t cp = 0; cp < plan.cp; ++cp) {
        executors[executor_index(plan, pp, dp, cp)]->bind(
            *executors[executor_index(plan, (pp + 1) % plan.pp, dp, cp)],
            *executors[executor_index(plan, (pp + plan.pp - 1) % plan.pp, dp, cp)]);
      }
    }
  }
}

void require_finished(const Executors& executors, const CollectiveEngine& collectives) {
  constexpr std::size_t kLines = 20;
  std::vector<std::string> lines = collectives.unfinished();
  for (const auto& executor : executors) {
    if (!executor->finished()) lines.push_back(executor->waits_for());
  }
  if (lines.empty()) return;
  std::string text = "deadlock: nothing can happen any more";
  for (std::size_t i = 0; i < std::min(lines.size(), kLines); ++i) text += "\n  " + lines[i];
  if (lines.size() > kLines) text += fmt::format("\n  and {} more", lines.size() - kLines);
  throw DeadlockError(text);
}

std::vector<LinkUse> link_use(const Network& network, const Wiring& wiring, Picoseconds time) {
  std::vector<LinkUse> uses;
  for (std::size_t i = 0; i < wiring.links().size(); ++i) {
    const Link& link = *network.links()[i];
    const double capacity = static_cast<double>(link.lanes()) * static_cast<double>(time.count());
    uses.push_back({.name = wiring.links()[i].name,
                    .level = wiring.links()[i].level,
                    .bytes = link.stats().bytes,
                    .busy = link.stats().busy,
                    .utilisation = capacity > 0 ? static_cast<double>(link.stats().busy.count()) / capacity : 0});
  }
  return uses;
}

/// Collectives that were played as one flow moved bytes too.
void account_flow(CollectivePlans& plans, std::int32_t group, const Collective& collective, std::int64_t times,
                  Network& network) {
  const auto& devices = plans.groups()[static_cast<std::size_t>(group)].devices;
  for (const CollectivePlan::PlannedSend& send : plans.get(group, collective).sends) {
    network.account(devices[static_cast<std::size_t>(send.from)], devices[static_cast<std::size_t>(send.to)],
                    send.bytes, times);
  }
}

void account_flows(const Program& program, const Executors& executors, const CollectiveEngine& collectives,
                   CollectiveCosts& costs, Network& network) {
  for (const CollectiveEngine::FlowCount& flow : collectives.flows()) {
    account_flow(costs.plans(), flow.group, flow.collective, flow.times, network);
  }
  for (const auto& executor : executors) {
    const std::int64_t device = executor->spec().devices.front();
    const std::int64_t position = coordinates(program.plan, device).pp;
    for (const Phase phase : {Phase::layers, Phase::after}) {
      for (const Collective& collective : collectives_of(program, position, Axis::tensor, phase)) {
        if (costs.cost(device, Axis::tensor, collective, phase).play != CollectivePlay::alone) continue;
        account_flow(costs.plans(), costs.communicators().seat(device, Axis::tensor).group, collective,
                     calls_per_iteration(program, position, Axis::tensor, collective, phase), network);
      }
    }
  }
}

/// Whether no chunk crossed the links of a group's flows before its last backward had ended.
bool gradients_kept_away(const Program& program, const Executors& executors, CollectiveCosts& costs,
                         const Network& network, Wiring& wiring) {
  for (const auto& executor : executors) {
    const std::int64_t device = executor->spec().devices.front();
    const Seat seat = costs.communicators().seat(device, Axis::tensor);
    if (seat.group < 0 || !costs.to_be_checked()[static_cast<std::size_t>(seat.group)]) continue;
    const auto& devices = costs.plans().groups()[static_cast<std::size_t>(seat.group)].devices;
    const std::int64_t position = coordinates(program.plan, device).pp;
    for (const Collective& collective : collectives_of(program, position, Axis::tensor, Phase::layers)) {
      for (const auto& [from, to] : costs.plans().get(seat.group, collective).pairs()) {
        for (const LinkId link :
             wiring.route(devices[static_cast<std::size_t>(from)], devices[static_cast<std::size_t>(to)])) {
          const Picoseconds first = network.links()[static_cast<std::size_t>(link)]->stats().first_start;
          if (first < executor->stats().layers_end) return false;
        }
      }
    }
  }
  return true;
}

void start_simulation() {
  try {
    sc_core::sc_start();
  } catch (const sc_core::sc_report& report) {
    throw std::runtime_error(report.what());
  }
}

void layer_times(const Program& program, TimelineStore& timelines, ClusterRun& run) {
  run.layer_forward.resize(program.layers.size());
  run.layer_backward.resize(program.layers.size());
  std::vector<bool> known(program.layers.size(), false);
  for (std::size_t stage = 0; stage < program.stages.size(); ++stage) {
    const std::int64_t position = static_cast<std::int64_t>(stage) % program.plan.pp;
    const StepCosts costs = timelines.costs(device_at(program.plan, {.pp = position}));
    for (const LayerRun& layer : program.stages[stage].layers) {
      const auto index = static_cast<std::size_t>(layer.layer);
      if (known[index]) continue;
      known[index] = true;
      run.layer_forward[index] = time_alone(program.layers[index].forward, costs,
                                            layer.layer == kHeadLayer ? costs.microbatch_host : Picoseconds(0));
      run.layer_backward[index] = time_alone(program.layers[index].backward, costs);
      run.layer_backward[index] += time_alone(program.layers[index].weight, costs);
    }
  }
}

/// One simulation of the iteration.
struct Attempt {
  ClusterRun run;
  bool sound = true;  ///< what it took for granted of the links turned out to be so
  bool traced = true;
};

/// What is taken for granted is known to hold only at the end, so such a run leaves no trace at first.
enum class Tracing { when_certain, always };

struct Inputs {
  const Cluster& cluster;
  const Program& program;
  std::span<const SliceAnswer> slices;
  const SimulationOptions& options;
  StepCosts::Record record;
  const ClusterUnits& units;
};

std::vector<ExecutorSpec> executor_specs(const Inputs& in, TimelineStore& timelines) {
  const Plan& plan = in.program.plan;
  std::vector<ExecutorSpec> specs;
  for (std::int64_t pp = 0; pp < plan.pp; ++pp) {
    for (std::int64_t dp = 0; dp < plan.dp; ++dp) {
      for (std::int64_t cp = 0; cp < plan.cp; ++cp) {
        specs.push_back(executor_spec(in.cluster, in.program, {.cp = cp, .dp = dp, .pp = pp}, timelines, in.units));
      }
    }
  }
  return specs;
}

void collect_stages(const Plan& plan, const Executors& executors, ClusterRun& run) {
  run.stages.resize(static_cast<std::size_t>(plan.pp));
  const auto replicas = static_cast<std::size_t>(plan.dp * plan.cp);
  for (std::size_t i = 0; i < executors.size(); ++i) {
    StageUse& stage = run.stages[i / replicas];
    const PipelineExecutor::Stats& stats = executors[i]->stats();
    if (i % replicas == 0) stage.first = stats;
    stage.last_end = std::max(stage.last_end, stats.end);
    run.time = std::max(run.time, stats.end);
  }
}

Attempt attempt(const Inputs& in, OneFlow one_flow, TraceSink* sink, Tracing tracing) {
  Wiring wiring(in.cluster);
  CollectiveCosts costs(in.cluster, in.program, wiring, in.options.ideal.links ? LinkModel::ideal : LinkModel::real,
                        one_flow);
  TimelineStore timelines(in.program, in.slices, in.record, in.cluster, costs);
  Attempt attempt;
  const std::vector<bool>& granted = costs.to_be_checked();
  if (sink != nullptr && tracing == Tracing::when_certain &&
      std::find(granted.begin(), granted.end(), true) != granted.end()) {
    sink = nullptr;
    attempt.traced = false;
  }
  layer_times(in.program, timelines, attempt.run);
  std::vector<ExecutorSpec> specs = executor_specs(in, timelines);
  std::int64_t tasks = 0;
  for (const ExecutorSpec& spec : specs) tasks += static_cast<std::int64_t>(spec.tasks.size());
  RunControl control(in.options, tasks);
  ClusterCounters counters{.sink = sink, .working = in.units.working, .messages = in.units.messages};
  const SimulationContext context;
  Network network("network", wiring, costs.network());
  CollectiveEngine collectives(
      "collectives", in.cluster.overhead, network, costs.plans(),
      [&costs](std::int32_t group, const Collective& collective) { return costs.flow_time(group, collective); });
  Executors executors;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    executors.push_back(std::make_unique<PipelineExecutor>(("executor" + std::to_string(i)).c_str(),
                                                           std::move(specs[i]), network, collectives,
                                                           costs.communicators(), control, counters));
  }
  bind_neighbours(in.program.plan, executors);
  start_simulation();
  control.rethrow();
  require_finished(executors, collectives);
  attempt.sound = gradients_kept_away(in.program, executors, costs, network, wiring);
  collect_stages(in.program.plan, executors, attempt.run);
  attempt.run.messages = network.messages();
  attempt.run.collectives = collectives.collectives();
  account_flows(in.program, executors, collectives, costs, network);
  attempt.run.links = link_use(network, wiring, attempt.run.time);
  attempt.run.assumptions = costs.assumptions();
  return attempt;
}

}  // namespace

ClusterUnits announce_cluster(TraceSink& sink, const Program& program) {
  const Plan& plan = program.plan;
  ClusterUnits units;
  units.working = sink.add_counter("working_positions", "1");
  units.messages = sink.add_counter("messages_under_way", "1");
  for (std::int64_t pp = 0; pp < plan.pp; ++pp) {
    for (std::int64_t dp = 0; dp < plan.dp; ++dp) {
      for (std::int64_t cp = 0; cp < plan.cp; ++cp) {
        const std::int32_t executor = sink.add_unit(executor_name(pp, dp, cp), "pipeline_position", -1);
        units.executors.push_back(executor);
        for (std::int64_t tp = 0; tp < plan.tp; ++tp) {
          const std::int64_t device = device_at(plan, {.tp = tp, .cp = cp, .dp = dp, .pp = pp});
          sink.add_unit(fmt::format("chip{}", device), "chip", executor);
        }
      }
    }
  }
  return units;
}

namespace {

/// What an iteration costs outside chips and links comes last, and belongs to no chip; the first position shows it.
void record_overhead(const Cluster& cluster, const ClusterRun& run, const ClusterUnits& units, TraceSink* sink) {
  const Picoseconds overhead = to_picoseconds(cluster.iteration_overhead);
  if (sink == nullptr || overhead == Picoseconds(0) || units.executors.empty()) return;
  sink->event(
      {.start = run.time, .end = run.time + overhead, .unit = units.executors.front(), .kind = EventKind::software});
}

ClusterRun simulated_run(const Inputs& in, const ClusterOptions& cluster_options, TraceSink* sink) {
  if (cluster_options.aggregation == Aggregation::nothing) {
    return attempt(in, OneFlow::none, sink, Tracing::always).run;
  }
  Attempt first = attempt(in, OneFlow::own_links_while_layers, sink, Tracing::when_certain);
  if (first.sound && first.traced) return std::move(first.run);
  return attempt(in, first.sound ? OneFlow::own_links_while_layers : OneFlow::own_links, sink, Tracing::always).run;
}

}  // namespace

ClusterRun run_cluster(const Cluster& cluster, const Program& program, std::span<const SliceAnswer> slices,
                       const SimulationOptions& options, const ClusterOptions& cluster_options, TraceSink* sink,
                       const ClusterUnits& units) {
  const Inputs in{cluster, program, slices, options, cluster_options.record, units};
  ClusterRun run = simulated_run(in, cluster_options, sink);
  record_overhead(cluster, run, units, sink);
  return run;
}

}  // namespace tandem
