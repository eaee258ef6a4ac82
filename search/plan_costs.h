// SPDX-License-Identifier: Apache-2.0
// What can be said of a plan before the chip is known.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "arch/cluster.h"
#include "search/communication.h"
#include "search/operator_bound.h"
#include "search/plan_space.h"
#include "search/stage_search.h"
#include "workloads/program.h"

namespace tandem {

/// Of the embedding, of one transformer layer and of the head, in the order of Program::layers: forward and backward.
template <typename T>
struct ByPass {
  T forward{}, backward{};
};
template <typename T>
using ByLayer = std::array<ByPass<T>, 3>;

/// What layers compute for one microbatch: graphs that run one after the other.
using LayerWork = ByLayer<std::vector<WorkGraph>>;
/// Times of one microbatch.
using LayerTimes = ByLayer<Seconds>;

/// A plan with even stages.
struct PlanCosts {
  Plan plan;
  std::string share;    ///< equal for plans whose layers compute the same
  std::string problem;  ///< why the plan is impossible, or empty
  /// By stage: memory with one layer, and of each further one (interleaved: of the even stages, and none).
  std::vector<Bytes> memory, memory_per_layer;
  std::vector<Seconds> send_forward, send_backward;  ///< by stage
  LayerTimes communication;                          ///< predicted, in collectives
  LayerTimes issue;                                  ///< that the host needs beside the operators
};

struct SpaceCosts {
  std::vector<PlanCosts> plans;           ///< in the order of enumerate_plans
  std::vector<Operator> operators;        ///< without names, each once
  std::map<std::string, LayerWork> work;  ///< by share; operators by number
};

SpaceCosts space_costs(const TransformerModel& model, const PlanSpace& space, const Cluster& network);

/// Most layers of each stage that fit `capacity`.
std::vector<std::int64_t> layer_capacity(const PlanCosts& costs, std::int64_t layers, Bytes capacity);

/// No layer is predicted to compute faster, given least times of the operators by number.
LayerTimes least_times(const LayerWork& work, std::span<const Operator> operators, std::span<const Seconds> times);
/// Sum, layer by layer.
LayerTimes operator+(const LayerTimes& a, const LayerTimes& b);

/// Predicted time of the collectives among `steps`, in pipeline stage `stage`.
Picoseconds communication_time(Communication& communication, const std::vector<Step>& steps, std::int64_t stage);

/// The stage problem of a plan that is not interleaved; nothing is done after the last backward.
StageProblem stage_problem(const PlanCosts& costs, const LayerTimes& times, std::int64_t layers,
                           std::vector<std::int64_t> capacity);

/// Lower bound on the time of a plan whose layers take `times`.
Seconds plan_bound(const PlanCosts& costs, const LayerTimes& times, std::int64_t layers,
                   const std::vector<std::int64_t>& capacity);

/// The same from the average stage, in constant time: the slowest stage is no faster. At most plan_bound.
Seconds average_bound(const PlanCosts& costs, const LayerTimes& times, std::int64_t layers);

/// `plan` with `layers` layers in each stage, and the model that has so many; for costs by number of layers.
Plan with_layers_everywhere(const Plan& plan, std::int64_t layers);
TransformerModel model_of(const TransformerModel& model, const Plan& plan);

}  // namespace tandem
