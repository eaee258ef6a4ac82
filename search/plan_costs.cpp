// SPDX-License-Identifier: Apache-2.0
#include "search/plan_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "workloads/memory.h"

namespace tandem {
namespace {

bool interleaved(const Plan& plan) { return plan.schedule == PipelineSchedule::interleaved; }

std::int32_t number_of(Operator op, std::vector<Operator>& known) {
  op.name.clear();
  const auto found = std::find(known.begin(), known.end(), op);
  const auto number = static_cast<std::int32_t>(found - known.begin());
  if (found == known.end()) known.push_back(std::move(op));
  return number;
}

std::vector<WorkGraph> graphs_of(const Program& program, const std::vector<Step>& steps, std::vector<Operator>& known) {
  std::vector<WorkGraph> graphs;
  for (const Step& step : steps) {
    const auto* compute = std::get_if<ComputeStep>(&step);
    if (compute == nullptr) continue;
    const OperatorGraph& graph = program.slices[static_cast<std::size_t>(compute->slice)].graph;
    WorkGraph& work = graphs.emplace_back();
    work.edges = graph.edges;
    for (const Operator& op : graph.operators) work.operators.push_back(number_of(op, known));
  }
  return graphs;
}

LayerWork layer_work(const Program& program, std::vector<Operator>& known) {
  LayerWork work;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const LayerProgram& layer = program.layers.at(i);
    work[i] = {graphs_of(program, layer.forward, known), graphs_of(program, layer.backward, known)};
  }
  return work;
}

/// Everything of a plan that the operators of one layer and microbatch depend on.
std::string share_of(const Plan& plan) {
  return fmt::format("tp{} mb{} sp{} {} {} m{}", plan.tp, plan.microbatch, plan.sequence_parallel,
                     name_of(plan.recompute), name_of(plan.attention), plan.microbatches() > 1);
}

std::vector<Bytes> totals(const std::vector<MemoryFootprint>& footprints) {
  std::vector<Bytes> bytes;
  for (const MemoryFootprint& footprint : footprints) bytes.push_back(footprint.total());
  return bytes;
}

std::vector<Bytes> memory_with(const TransformerModel& model, const Plan& plan, std::int64_t layers) {
  const Plan probe = with_layers_everywhere(plan, layers);
  return totals(memory_footprint(model_of(model, probe), probe));
}

void add_memory(const TransformerModel& model, PlanCosts& costs) {
  if (interleaved(costs.plan)) {
    costs.memory = totals(memory_footprint(model, costs.plan));
    costs.memory_per_layer.assign(costs.memory.size(), Bytes(0));
    return;
  }
  costs.memory = memory_with(model, costs.plan, 1);
  const std::vector<Bytes> two = memory_with(model, costs.plan, 2);
  for (std::size_t s = 0; s < two.size(); ++s) costs.memory_per_layer.push_back(two[s] - costs.memory[s]);
}

double collectives(const std::vector<Step>& steps) {
  return static_cast<double>(
      std::count_if(steps.begin(), steps.end(), [](const Step& step) { return std::get_if<CollectiveStep>(&step); }));
}

void add_communication(const Program& program, const Cluster& network, PlanCosts& costs) {
  Communication communication(network, program.plan);
  const std::size_t stages = program.stages.size();
  const std::int64_t pp = program.plan.pp;
  for (std::size_t s = 0; s < stages; ++s) {
    const std::int64_t device = static_cast<std::int64_t>(s) % pp;
    const StageProgram& stage = program.stages[s];
    costs.send_forward.push_back(to_seconds(communication.send(stage.send_forward, device, (device + 1) % pp)));
    costs.send_backward.push_back(to_seconds(communication.send(stage.send_backward, device, (device + pp - 1) % pp)));
  }
  costs.issue[kHeadLayer].forward = network.microbatch_overhead;
  for (std::size_t i = 0; i < costs.communication.size(); ++i) {
    costs.communication[i] = {to_seconds(communication_time(communication, program.layers[i].forward, 0)),
                              to_seconds(communication_time(communication, program.layers[i].backward, 0))};
    costs.issue[i].forward += collectives(program.layers[i].forward) * network.issue_overhead;
    costs.issue[i].backward += collectives(program.layers[i].backward) * network.issue_overhead;
  }
}

}  // namespace

Plan with_layers_everywhere(const Plan& plan, std::int64_t layers) {
  Plan probe = plan;
  probe.stage_layers.assign(static_cast<std::size_t>(plan.pp * plan.virtual_stages), layers);
  return probe;
}

TransformerModel model_of(const TransformerModel& model, const Plan& plan) {
  TransformerModel probe = model;
  probe.layers = std::accumulate(plan.stage_layers.begin(), plan.stage_layers.end(), std::int64_t{0});
  return probe;
}

SpaceCosts space_costs(const TransformerModel& model, const PlanSpace& space, const Cluster& network) {
  SpaceCosts costs;
  for (Plan& plan : enumerate_plans(space, model)) {
    PlanCosts one;
    plan.stage_layers = even_stages(model.layers, plan.pp * plan.virtual_stages);
    one.plan = plan;
    one.share = share_of(plan);
    const auto found = problems(plan, model, space.devices);
    if (!found.empty()) {
      one.problem = found.front();
    } else {
      add_memory(model, one);
      const Program program = build_program(model, plan);
      add_communication(program, network, one);
      if (!costs.work.contains(one.share)) costs.work.emplace(one.share, layer_work(program, costs.operators));
    }
    costs.plans.push_back(std::move(one));
  }
  return costs;
}

std::vector<std::int64_t> layer_capacity(const PlanCosts& costs, std::int64_t layers, Bytes capacity) {
  std::vector<std::int64_t> most;
  for (std::size_t s = 0; s < costs.memory.size(); ++s) {
    const Bytes left = capacity - costs.memory[s];
    if (left < Bytes(0)) {
      most.push_back(0);
    } else if (costs.memory_per_layer[s] <= Bytes(0)) {
      most.push_back(layers);
    } else {
      most.push_back(std::min(layers, 1 + left.value() / costs.memory_per_layer[s].value()));
    }
  }
  return most;
}

LayerTimes least_times(const LayerWork& work, std::span<const Operator> operators, std::span<const Seconds> times) {
  const auto sum = [&](const std::vector<WorkGraph>& graphs) {
    Seconds total{};
    for (const WorkGraph& graph : graphs) total += least_graph_time(graph, operators, times);
    return total;
  };
  LayerTimes least;
  for (std::size_t i = 0; i < work.size(); ++i) least[i] = {sum(work[i].forward), sum(work[i].backward)};
  return least;
}

LayerTimes operator+(const LayerTimes& a, const LayerTimes& b) {
  LayerTimes sum;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = {a[i].forward + b[i].forward, a[i].backward + b[i].backward};
  return sum;
}

Picoseconds communication_time(Communication& communication, const std::vector<Step>& steps, std::int64_t stage) {
  Picoseconds time{};
  for (const Step& step : steps) {
    const auto* call = std::get_if<CollectiveStep>(&step);
    if (call == nullptr) continue;
    time += communication.collective(call->axis, call->collective, call->axis == Axis::embedding ? 0 : stage);
  }
  return time;
}

StageProblem stage_problem(const PlanCosts& costs, const LayerTimes& times, std::int64_t layers,
                           std::vector<std::int64_t> capacity) {
  const auto& [embedding, block, head] = times;
  StageProblem problem;
  problem.schedule = costs.plan.schedule;
  problem.layers = layers;
  problem.microbatches = costs.plan.microbatches();
  problem.layer_forward = block.forward;
  problem.layer_backward = block.backward;
  problem.fixed.resize(costs.send_forward.size());
  for (std::size_t s = 0; s < problem.fixed.size(); ++s) {
    problem.fixed[s].send_forward = costs.send_forward[s];
    problem.fixed[s].send_backward = costs.send_backward[s];
  }
  problem.fixed.front().forward += embedding.forward;
  problem.fixed.front().backward += embedding.backward;
  problem.fixed.back().forward += head.forward;
  problem.fixed.back().backward += head.backward;
  problem.capacity = std::move(capacity);
  problem.after = [](std::int64_t, std::int64_t) { return Seconds(0); };
  return problem;
}

Seconds plan_bound(const PlanCosts& costs, const LayerTimes& times, std::int64_t layers,
                   const std::vector<std::int64_t>& capacity) {
  if (!interleaved(costs.plan)) return stage_bound(stage_problem(costs, times, layers, capacity));
  // Every device is busy with its own layers for every microbatch, whatever the order.
  const auto& [embedding, block, head] = times;
  const std::int64_t blocks = ceil_div(layers, costs.plan.pp);
  const Seconds busy = static_cast<double>(blocks) * (block.forward + block.backward);
  const Seconds ends = std::max(embedding.forward + embedding.backward, head.forward + head.backward);
  return static_cast<double>(costs.plan.microbatches()) * std::max(busy, ends);
}

Seconds average_bound(const PlanCosts& costs, const LayerTimes& times, std::int64_t layers) {
  const auto& [embedding, block, head] = times;
  const Seconds work = static_cast<double>(layers) * (block.forward + block.backward) + embedding.forward +
                       embedding.backward + head.forward + head.backward;
  const auto pp = static_cast<double>(costs.plan.pp);
  const auto m = static_cast<double>(costs.plan.microbatches());
  Seconds round_trip = work;
  for (std::size_t s = 0; s < costs.send_forward.size(); ++s) {
    if (s + 1 < costs.send_forward.size()) round_trip += costs.send_forward[s];
    if (s > 0) round_trip += costs.send_backward[s];
  }
  switch (costs.plan.schedule) {
    case PipelineSchedule::gpipe: return round_trip + work * ((m - 1) / pp);
    // Of a stage with w microbatches in flight w - 1 forwards or backwards hide, at most half of w - 1 passes.
    case PipelineSchedule::one_f_one_b: return round_trip + work * ((m - (std::min(m, pp) + 1) / 2) / pp);
    default: return work * (m / pp);
  }
}

}  // namespace tandem
