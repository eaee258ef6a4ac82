// SPDX-License-Identifier: Apache-2.0
// A model under a plan, resolved into what each device runs: the common input of prediction and simulation.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "workloads/collectives.h"
#include "workloads/memory.h"
#include "workloads/model.h"
#include "workloads/operator_graph.h"
#include "workloads/operator_schedule.h"
#include "workloads/plan.h"

namespace tandem {

/// A distinct piece of one device's compute between two communication points. Equal pieces appear once.
struct Slice {
  std::string name;  ///< "block.attention.forward"
  OperatorGraph graph;
  std::vector<Mapping> mappings;  ///< by operator; filled by the mapper
  OperatorSchedule schedule;      ///< filled by the operator scheduler
};

struct ComputeStep {
  std::int32_t slice = 0;
};
struct CollectiveStep {
  std::string name;  ///< "tp.all_reduce"
  Axis axis = Axis::tensor;
  Collective collective;
};
using Step = std::variant<ComputeStep, CollectiveStep>;

/// One kind of layer: what a device does for one microbatch, in order. Recompute is part of `backward`.
struct LayerProgram {
  std::string name;  ///< "embedding", "block", "head"; "receive", "deliver": what scattered sends need at either end
  std::vector<Step> forward, backward;
  std::vector<Step> weight{};  ///< gradients of the weights, where the schedule takes them out of `backward`
};

/// The first of Program::layers are those of the model: embedding, block, head.
inline constexpr std::int32_t kModelLayers = 3, kHeadLayer = 2;

struct LayerRun {
  std::int32_t layer = 0;  ///< index into Program::layers
  std::int64_t count = 1;
};

/// One (virtual) pipeline stage.
struct StageProgram {
  std::vector<LayerRun> layers;  ///< forward order
  Bytes send_forward{};          ///< activations to the next stage, per device and microbatch; 0 for the last
  Bytes send_backward{};         ///< gradients to the stage before; 0 for the first
  std::vector<Step> after;       ///< once per iteration, after the last backward: gradient exchange, optimizer, ...
  /// Gradients exchanged along the data axis by layer, in the order in which backward produces them, when overlapped.
  std::vector<Bytes> gradient_buckets;
};

struct Program {
  TransformerModel model;
  Plan plan;
  std::vector<Slice> slices;
  std::vector<LayerProgram> layers;
  std::vector<StageProgram> stages;     ///< pp * virtual_stages, in model order; stage s runs on device s % pp
  std::vector<MemoryFootprint> memory;  ///< by pipeline device
};

/// Throws ConfigError with all problems(plan, model, plan.devices()). Shapes only: slices have no mappings yet.
Program build_program(const TransformerModel& model, const Plan& plan);

/// InfeasibleError naming stage, category and the missing bytes if a device needs more than `capacity`.
void check_memory(const Program& program, Bytes capacity);

}  // namespace tandem
