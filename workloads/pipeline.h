// SPDX-License-Identifier: Apache-2.0
// Pipeline schedules as lists of tasks, and their closed forms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/support/quantity.h"
#include "workloads/plan.h"

namespace tandem {

/// `weight`: gradients of the weights, where the schedule computes them apart from those of the data.
enum class TaskKind { forward, backward, weight };

struct PipelineTask {
  TaskKind kind = TaskKind::forward;
  std::int64_t microbatch = 0;
  std::int64_t chunk = 0;  ///< virtual stage on this device; 0 unless interleaved
  bool operator==(const PipelineTask&) const = default;
};

/// Whether backward is two tasks, the gradients of the data and those of the weights.
bool splits_backward(PipelineSchedule schedule);

/// Order of work on device `stage` of `stages`. Each microbatch has one forward and one backward per chunk, and with
/// zb_h1 one weight task. Sources: GPipe (arXiv 1811.06965), 1F1B: PipeDream-Flush (arXiv 2006.09503), interleaved:
/// SC'21 (arXiv 2104.04473), ZB-H1: Qi et al. (arXiv 2401.10241), section 2.3; interleaved needs microbatches divisible
/// by stages (std::invalid_argument).
std::vector<PipelineTask> pipeline_tasks(PipelineSchedule schedule, std::int64_t stages, std::int64_t stage,
                                         std::int64_t microbatches, std::int64_t chunks = 1);

/// Most microbatch-chunks whose activations device `stage` holds at once.
std::int64_t in_flight(PipelineSchedule schedule, std::int64_t stages, std::int64_t stage, std::int64_t microbatches,
                       std::int64_t chunks = 1);

/// Ideal bubble over useful time: (p-1)/m for GPipe and 1F1B, (p-1)/(v m) interleaved, (p-1)/(3 m) for ZB-H1, whose
/// three tasks are taken as equally long: (p-1)(F + B - W) in general.
double bubble_fraction(PipelineSchedule schedule, std::int64_t stages, std::int64_t microbatches,
                       std::int64_t chunks = 1);

/// Times of one microbatch on one (virtual) stage.
struct StageTimes {
  Seconds forward{}, backward{};
  Seconds send_forward{};   ///< to the next stage
  Seconds send_backward{};  ///< to the stage before
  Seconds weight{};         ///< gradients of the weights, where `backward` is without them
  /// How long the device itself is held by its send, which a blocking one does for all of its time.
  Seconds held_forward{}, held_backward{};
};

struct PipelineTime {
  Seconds total{};
  std::vector<Seconds> end;  ///< when each device finishes its last task
};

/// Plays the task lists with fixed times (a send occupies neither device): exact for unequal stages, linear in tasks;
/// steady state is not skipped. `stages`: pp * chunks entries in model order.
PipelineTime pipeline_time(PipelineSchedule schedule, std::int64_t microbatches, std::int64_t chunks,
                           std::span<const StageTimes> stages);

}  // namespace tandem
