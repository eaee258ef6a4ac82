// SPDX-License-Identifier: Apache-2.0
#include "workloads/pipeline.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace tandem {
namespace {

void check(PipelineSchedule schedule, std::int64_t stages, std::int64_t stage, std::int64_t microbatches,
           std::int64_t chunks) {
  if (stages < 1 || stage < 0 || stage >= stages || microbatches < 1 || chunks < 1) {
    throw std::invalid_argument("pipeline of " + std::to_string(stages) + " stages, stage " + std::to_string(stage) +
                                ", " + std::to_string(microbatches) + " microbatches, " + std::to_string(chunks) +
                                " chunks");
  }
  if (schedule != PipelineSchedule::interleaved) {
    if (chunks != 1) throw std::invalid_argument("only an interleaved pipeline has virtual stages");
  } else if (microbatches % stages != 0) {
    throw std::invalid_argument("interleaved pipeline: " + std::to_string(microbatches) +
                                " microbatches do not divide by " + std::to_string(stages) + " stages");
  }
}

/// Forward passes before the first backward.
std::int64_t warmup(PipelineSchedule schedule, std::int64_t stages, std::int64_t stage, std::int64_t microbatches,
                    std::int64_t chunks) {
  switch (schedule) {
    case PipelineSchedule::gpipe: return microbatches;
    case PipelineSchedule::one_f_one_b:
    case PipelineSchedule::zb_h1: return std::min(microbatches, stages - stage - 1);
    case PipelineSchedule::interleaved: break;
  }
  const std::int64_t all = microbatches * chunks;
  // Megatron-LM, schedules.py: two forwards more per device further from the end, and stages per earlier chunk. With
  // one round of microbatches everything is warm-up.
  if (microbatches == stages) return all;
  return std::min(all, 2 * (stages - stage - 1) + (chunks - 1) * stages);
}

/// The i-th forward (or backward) of a device: rounds of `stages` microbatches, within a round chunk by chunk
/// (backward: from the last chunk).
PipelineTask nth_task(TaskKind kind, std::int64_t i, std::int64_t stages, std::int64_t chunks) {
  if (chunks == 1) return {kind, i, 0};
  const std::int64_t round = i / (stages * chunks);
  const std::int64_t within = i % (stages * chunks);
  const std::int64_t chunk = within / stages;
  return {kind, round * stages + within % stages, kind == TaskKind::forward ? chunk : chunks - 1 - chunk};
}

/// ZB-H1: as 1F1B, but the gradients of the weights come apart, on stage s as late as s microbatches after those of the
/// data, so that no stage holds more than the first one and what is put off fills the end.
std::vector<PipelineTask> zero_bubble_tasks(std::int64_t stages, std::int64_t stage, std::int64_t microbatches) {
  const std::int64_t before = warmup(PipelineSchedule::zb_h1, stages, stage, microbatches, 1);
  std::vector<PipelineTask> tasks;
  tasks.reserve(static_cast<std::size_t>(3 * microbatches));
  for (std::int64_t i = 0; i < before; ++i) tasks.push_back({TaskKind::forward, i, 0});
  std::int64_t weights = 0;
  for (std::int64_t i = 0; i < microbatches; ++i) {
    if (before + i < microbatches) tasks.push_back({TaskKind::forward, before + i, 0});
    tasks.push_back({TaskKind::backward, i, 0});
    if (i >= stage) tasks.push_back({TaskKind::weight, weights++, 0});
  }
  while (weights < microbatches) tasks.push_back({TaskKind::weight, weights++, 0});
  return tasks;
}

}  // namespace

bool splits_backward(PipelineSchedule schedule) { return schedule == PipelineSchedule::zb_h1; }

std::vector<PipelineTask> pipeline_tasks(PipelineSchedule schedule, std::int64_t stages, std::int64_t stage,
                                         std::int64_t microbatches, std::int64_t chunks) {
  check(schedule, stages, stage, microbatches, chunks);
  if (schedule == PipelineSchedule::zb_h1) return zero_bubble_tasks(stages, stage, microbatches);
  const std::int64_t all = checked_product(microbatches, chunks);
  const std::int64_t before = warmup(schedule, stages, stage, microbatches, chunks);
  std::vector<PipelineTask> tasks;
  tasks.reserve(static_cast<std::size_t>(2 * all));
  for (std::int64_t i = 0; i < before; ++i) tasks.push_back(nth_task(TaskKind::forward, i, stages, chunks));
  for (std::int64_t i = before; i < all; ++i) {
    tasks.push_back(nth_task(TaskKind::forward, i, stages, chunks));
    tasks.push_back(nth_task(TaskKind::backward, i - before, stages, chunks));
  }
  for (std::int64_t i = all - before; i < all; ++i) tasks.push_back(nth_task(TaskKind::backward, i, stages, chunks));
  return tasks;
}

std::int64_t in_flight(PipelineSchedule schedule, std::int64_t stages, std::int64_t stage, std::int64_t microbatches,
                       std::int64_t chunks) {
  check(schedule, stages, stage, microbatches, chunks);
  const std::int64_t all = checked_product(microbatches, chunks);
  // What is kept for the gradients of the weights goes with them.
  const std::int64_t put_off = schedule == PipelineSchedule::zb_h1 ? stage : 0;
  return std::min(all, warmup(schedule, stages, stage, microbatches, chunks) + put_off + 1);
}

double bubble_fraction(PipelineSchedule schedule, std::int64_t stages, std::int64_t microbatches, std::int64_t chunks) {
  check(schedule, stages, 0, microbatches, chunks);
  const double parts = schedule == PipelineSchedule::zb_h1 ? 3 : static_cast<double>(chunks);
  return static_cast<double>(stages - 1) / (parts * static_cast<double>(microbatches));
}

namespace {

/// Plays one device's list as far as its inputs allow, for all devices in turn, until all lists are done.
class Player {
 public:
  Player(PipelineSchedule schedule, std::int64_t microbatches, std::int64_t chunks, std::span<const StageTimes> stages)
      : microbatches_(microbatches), devices_(static_cast<std::int64_t>(stages.size()) / chunks), stages_(stages) {
    const std::size_t slots = stages.size() * static_cast<std::size_t>(microbatches);
    forward_end_.resize(slots);
    backward_end_.resize(slots);
    for (std::int64_t device = 0; device < devices_; ++device) {
      lists_.push_back(pipeline_tasks(schedule, devices_, device, microbatches, chunks));
    }
  }

  PipelineTime play() {
    std::vector<std::size_t> next(lists_.size(), 0);
    PipelineTime time;
    time.end.assign(lists_.size(), Seconds(0));
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t device = 0; device < lists_.size(); ++device) {
        while (next[device] < lists_[device].size()) {
          const PipelineTask& task = lists_[device][next[device]];
          const auto ready = ready_at(static_cast<std::int64_t>(device), task);
          if (!ready) break;
          time.end[device] = run(static_cast<std::int64_t>(device), task, std::max(*ready, time.end[device]));
          ++next[device];
          moved = true;
        }
      }
    }
    for (std::size_t device = 0; device < lists_.size(); ++device) {
      if (next[device] != lists_[device].size()) throw std::logic_error("pipeline schedule deadlocks");
      time.total = std::max(time.total, time.end[device]);
    }
    return time;
  }

 private:
  [[nodiscard]] std::size_t slot(std::int64_t stage, std::int64_t microbatch) const {
    return static_cast<std::size_t>(stage * microbatches_ + microbatch);
  }
  [[nodiscard]] std::int64_t last() const { return static_cast<std::int64_t>(stages_.size()) - 1; }

  [[nodiscard]] std::optional<Seconds> ready_at(std::int64_t device, const PipelineTask& task) const {
    const std::int64_t stage = task.chunk * devices_ + device;
    if (task.kind == TaskKind::weight) return Seconds(0);  // in the list behind its backward
    if (task.kind == TaskKind::forward) {
      if (stage == 0) return Seconds(0);
      return arrival(forward_end_[slot(stage - 1, task.microbatch)],
                     stages_[static_cast<std::size_t>(stage - 1)].send_forward);
    }
    if (stage == last()) return forward_end_[slot(stage, task.microbatch)];
    return arrival(backward_end_[slot(stage + 1, task.microbatch)],
                   stages_[static_cast<std::size_t>(stage + 1)].send_backward);
  }
  /// Between stages on one device (a pipeline of one) nothing is sent.
  [[nodiscard]] std::optional<Seconds> arrival(std::optional<Seconds> end, Seconds send) const {
    if (!end) return std::nullopt;
    return devices_ > 1 ? *end + send : *end;
  }
  Seconds run(std::int64_t device, const PipelineTask& task, Seconds start) {
    const std::int64_t stage = task.chunk * devices_ + device;
    const StageTimes& times = stages_[static_cast<std::size_t>(stage)];
    if (task.kind == TaskKind::weight) return start + times.weight;
    const bool forward = task.kind == TaskKind::forward;
    const Seconds end = start + (forward ? times.forward : times.backward);
    (forward ? forward_end_ : backward_end_)[slot(stage, task.microbatch)] = end;
    return end + (forward ? times.held_forward : times.held_backward);
  }

  std::int64_t microbatches_, devices_;
  std::span<const StageTimes> stages_;
  std::vector<std::vector<PipelineTask>> lists_;
  std::vector<std::optional<Seconds>> forward_end_, backward_end_;  ///< by stage and microbatch
};

}  // namespace

PipelineTime pipeline_time(PipelineSchedule schedule, std::int64_t microbatches, std::int64_t chunks,
                           std::span<const StageTimes> stages) {
  if (chunks < 1 || stages.empty() || static_cast<std::int64_t>(stages.size()) % chunks != 0) {
    throw std::invalid_argument("pipeline_time: stages must be a multiple of chunks");
  }
  return Player(schedule, microbatches, chunks, stages).play();
}

}  // namespace tandem
