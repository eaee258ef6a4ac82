// SPDX-License-Identifier: Apache-2.0
// What plans cost on one chip, with everything that plans have in common computed once.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arch/cluster.h"
#include "search/plan_costs.h"
#include "workloads/answer.h"

namespace tandem {

class ChipCosts {
 public:
  /// All must outlive this.
  ChipCosts(const Cluster& cluster, const TransformerModel& model, CommunicationMemo& memo)
      : cluster_(cluster), model_(model), memo_(memo) {}

  /// predict() of the mapped plan. InfeasibleError if an operator does not fit the chip's buffers.
  Answer predicted(const Plan& plan);
  /// Predicted times of the plan's layers.
  LayerTimes layer_times(const PlanCosts& costs);
  /// Predicted time of what a stage with so many layers does after its last backward.
  Seconds after(const PlanCosts& costs, std::int64_t stage, std::int64_t layers);

 private:
  Program mapped(const TransformerModel& model, const Plan& plan);
  void map_slices(Program& program);
  std::vector<Seconds> endings(const PlanCosts& costs, std::int64_t layers);

  const Cluster& cluster_;
  const TransformerModel& model_;
  CommunicationMemo& memo_;
  std::map<std::string, std::vector<Slice>> mapped_;  ///< by name
  struct LayerCompute {
    LayerTimes device, host;  ///< without communication; of the host's launches
  };
  std::map<std::string, LayerCompute> compute_times_;  ///< by share
  /// By stage, of a plan with so many layers in every stage.
  std::map<std::pair<const PlanCosts*, std::int64_t>, std::vector<Seconds>> endings_;
};

}  // namespace tandem
