// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/pipeline_executor.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem {
namespace {

/// Message flows below the collectives' groups: activations and gradients.
constexpr std::int64_t flow_of(TaskKind kind) { return kind == TaskKind::forward ? -2 : -1; }

constexpr std::int64_t kSegmentToken = 0;
constexpr std::int64_t kBucketToken = 1;

}  // namespace

void ClusterCounters::record(std::int64_t change, const Network& network) {
  working_now += change;
  if (sink == nullptr) return;
  sink->counter(working, simulated_now(), static_cast<double>(working_now));
  sink->counter(messages, simulated_now(), static_cast<double>(network.messages_under_way()));
}

PipelineExecutor::PipelineExecutor(sc_core::sc_module_name name, ExecutorSpec spec, Network& network,
                                   CollectiveEngine& collectives, const Communicators& communicators,
                                   RunControl& control, ClusterCounters& counters)
    : sc_module(name),
      spec_(std::move(spec)),
      network_(network),
      collectives_(collectives),
      communicators_(communicators),
      control_(control),
      counters_(counters),
      sink_(counters.sink) {
  const auto chunks = spec_.stages.size();
  backwards_left_.assign(chunks, spec_.microbatches);
  const Arrival nothing{.missing = static_cast<std::int64_t>(spec_.devices.size())};
  for (auto& kind : arrivals_) kind.assign(chunks * static_cast<std::size_t>(spec_.microbatches), nothing);
  SC_HAS_PROCESS(PipelineExecutor);
  SC_METHOD(wake);
  sensitive << wake_;
}

void PipelineExecutor::wake() {
  try {
    run();
  } catch (...) {
    control_.fail(std::current_exception());
  }
}

void PipelineExecutor::run() {
  waiting_ = false;
  while (step()) {
  }
}

void PipelineExecutor::wake_if(bool ready) {
  if (!waiting_ || !ready) return;
  waiting_ = false;  // a second notification would replace the one for the end of what comes next
  wake_.notify(sc_core::SC_ZERO_TIME);
}

bool PipelineExecutor::wait() {
  waiting_ = true;
  return false;
}

bool PipelineExecutor::step() {
  switch (phase_) {
    case Phase::next_task:
      if (task_ == spec_.tasks.size()) return begin_after();
      since_ = simulated_now();
      phase_ = Phase::receiving;
      return true;
    case Phase::receiving: return begin_task();
    case Phase::next_segment: return begin_segment();
    case Phase::busy: return end_busy();
    case Phase::in_collective: return members_in_collective_ > 0 ? wait() : end_collective();
    case Phase::sending: return unsent_ > 0 ? wait() : end_sending();
    case Phase::draining: return members_in_bucket_ > 0 ? wait() : end_drain();
    case Phase::finished: return false;
  }
  return false;
}

bool PipelineExecutor::needs_input(const PipelineTask& task) const {
  if (task.kind == TaskKind::weight) return false;
  const std::int64_t stage = stage_of(task).stage;
  return task.kind == TaskKind::forward ? stage > 0 : stage + 1 < spec_.total_stages;
}

bool PipelineExecutor::begin_task() {
  const PipelineTask& task = spec_.tasks[task_];
  if (needs_input(task)) {
    const Arrival& input = arrival(task.kind, task.microbatch, task.chunk);
    if (input.missing > 0) return wait();
    account_receive(input);
  }
  task_start_ = simulated_now();
  counters_.record(+1, network_);
  if (task.kind == TaskKind::backward) --backwards_left_[static_cast<std::size_t>(task.chunk)];
  start_segments(timeline_of(task));
  return true;
}

const Timeline& PipelineExecutor::timeline_of(const PipelineTask& task) const {
  const StageTimelines& timelines = *stage_of(task).timelines;
  switch (task.kind) {
    case TaskKind::forward: break;
    case TaskKind::backward:
      return backwards_left_[static_cast<std::size_t>(task.chunk)] == 0 ? timelines.last_backward : timelines.backward;
    case TaskKind::weight: return task.microbatch + 1 == spec_.microbatches ? timelines.last_weight : timelines.weight;
  }
  return timelines.forward;
}

void PipelineExecutor::start_segments(const Timeline& timeline) {
  timeline_ = &timeline;
  segment_ = 0;
  phase_ = Phase::next_segment;
}

bool PipelineExecutor::begin_segment() {
  if (segment_ == timeline_->size()) return end_timeline();
  const Segment& segment = (*timeline_)[segment_];
  since_ = simulated_now();
  switch (segment.kind) {
    case SegmentKind::busy:
      phase_ = Phase::busy;
      record_slices(segment);
      wake_.notify(to_sc_time(segment.time));
      return false;
    case SegmentKind::collective:
      phase_ = Phase::in_collective;
      join(segment, kSegmentToken);
      return true;
    case SegmentKind::bucket:
      ++segment_;
      buckets_.push_back(segment);
      if (members_in_bucket_ == 0) start_bucket();
      return true;
  }
  return true;
}

bool PipelineExecutor::end_busy() {
  const Segment& segment = (*timeline_)[segment_++];
  stats_.by_cause += segment.by_cause;
  stats_.busy += segment.time;
  phase_ = Phase::next_segment;
  return true;
}

bool PipelineExecutor::end_collective() {
  const Segment& segment = (*timeline_)[segment_++];
  account_collective(segment.axis);
  record(EventKind::collective, since_, -1, segment.collective.bytes);
  phase_ = Phase::next_segment;
  return true;
}

bool PipelineExecutor::end_timeline() {
  if (task_ < spec_.tasks.size()) {
    end_task();
    ++task_;
    if (spec_.blocking_sends && unsent_ > 0) {
      since_ = simulated_now();
      phase_ = Phase::sending;
      return true;
    }
  } else {
    record(EventKind::update, task_start_, -1, Bytes(0));
    ++after_stage_;
  }
  phase_ = Phase::next_task;
  return true;
}

void PipelineExecutor::end_task() {
  const PipelineTask& task = spec_.tasks[task_];
  const ExecutorStage& stage = stage_of(task);
  const Picoseconds time = simulated_now() - task_start_;
  if (task.kind == TaskKind::forward) {
    stats_.forward += time;
    ++held_;
    if (stage.stage + 1 < spec_.total_stages) {
      send(*next_, task.kind, task.microbatch, stage.stage + 1, stage.send_forward);
    }
  } else {
    stats_.backward += time;
    if ((task.kind == TaskKind::weight) == spec_.splits_backward) --held_;
    if (task.kind == TaskKind::backward && stage.stage > 0)
      send(*previous_, task.kind, task.microbatch, stage.stage - 1, stage.send_backward);
  }
  record(task.kind == TaskKind::forward ? EventKind::forward : EventKind::backward, task_start_, task.microbatch,
         Bytes(0));
  stats_.layers_end = simulated_now();
  record_memory();
  counters_.record(-1, network_);
  control_.task_done();
}

bool PipelineExecutor::begin_after() {
  since_ = task_start_ = simulated_now();
  if (members_in_bucket_ > 0) {
    phase_ = Phase::draining;
  } else if (after_stage_ < spec_.stages.size()) {
    start_segments(spec_.stages[after_stage_].timelines->after);
  } else {
    stats_.end = simulated_now();
    phase_ = Phase::finished;
  }
  return true;
}

bool PipelineExecutor::end_drain() {
  account_collective(Axis::data);
  phase_ = Phase::next_task;
  return true;
}

void PipelineExecutor::join(const Segment& segment, std::int64_t token) {
  std::int32_t& open = token == kBucketToken ? members_in_bucket_ : members_in_collective_;
  const auto seated = [&](std::int64_t device) { return communicators_.seat(device, segment.axis).group >= 0; };
  // Counted before the first call, which may be answered at once.
  open = static_cast<std::int32_t>(std::count_if(spec_.devices.begin(), spec_.devices.end(), seated));
  for (const std::int64_t device : spec_.devices) {
    const Seat seat = communicators_.seat(device, segment.axis);
    if (seat.group >= 0) collectives_.join(seat.group, seat.member, segment.collective, *this, token);
  }
}

void PipelineExecutor::start_bucket() {
  bucket_since_ = simulated_now();
  join(buckets_[next_bucket_], kBucketToken);
}

void PipelineExecutor::collective_done(const CollectiveOutcome& outcome) {
  outcome_ = outcome;
  if (outcome.token == kSegmentToken) {
    --members_in_collective_;
    wake_if(phase_ == Phase::in_collective && members_in_collective_ == 0);
    return;
  }
  if (--members_in_bucket_ > 0) return;
  record(EventKind::collective, bucket_since_, -1, buckets_[next_bucket_].collective.bytes);
  ++next_bucket_;
  try {
    if (next_bucket_ < buckets_.size()) start_bucket();
  } catch (...) {
    control_.fail(std::current_exception());
  }
  wake_if(phase_ == Phase::draining && members_in_bucket_ == 0);
}

bool PipelineExecutor::end_sending() {
  const Picoseconds now = simulated_now();
  const Picoseconds left = std::clamp(sent_at_, since_, now);
  stats_.by_cause[Cause::software] += left - since_;
  stats_.by_cause[Cause::pipeline_communication] += now - left;
  phase_ = Phase::next_task;
  return true;
}

void PipelineExecutor::sent(const Delivery& delivery) {
  sent_at_ = delivery.sent;
  --unsent_;
  wake_if(phase_ == Phase::sending && unsent_ == 0);
}

void PipelineExecutor::send(PipelineExecutor& to, TaskKind kind, std::int64_t microbatch, std::int64_t stage,
                            Bytes bytes) {
  const Picoseconds start = simulated_now() + spec_.send_overhead;
  unsent_ += static_cast<std::int64_t>(spec_.devices.size());
  for (std::size_t rank = 0; rank < spec_.devices.size(); ++rank) {
    const MessageKey key{.flow = flow_of(kind),
                         .sequence = checked_product(stage, spec_.microbatches) + microbatch,
                         .from = spec_.devices[rank],
                         .to = to.spec_.devices[rank]};
    network_.send(key, bytes, start, to, FlowOrder::in_sequence);
  }
}

void PipelineExecutor::delivered(const Delivery& delivery) {
  const TaskKind kind = delivery.key.flow == flow_of(TaskKind::forward) ? TaskKind::forward : TaskKind::backward;
  const std::int64_t stage = delivery.key.sequence / spec_.microbatches;
  const std::int64_t microbatch = delivery.key.sequence % spec_.microbatches;
  const auto owner = std::find_if(spec_.stages.begin(), spec_.stages.end(),
                                  [stage](const ExecutorStage& own) { return own.stage == stage; });
  const std::int64_t chunk = owner - spec_.stages.begin();
  Arrival& input = arrival(kind, microbatch, chunk);
  input.sent = delivery.sent;
  input.arrived = delivery.arrived;
  PipelineExecutor& from = kind == TaskKind::forward ? *previous_ : *next_;
  from.sent(delivery);
  if (--input.missing > 0) return;
  if (sink_ != nullptr) {
    sink_->event({.start = delivery.sent,
                  .end = delivery.arrived,
                  .unit = from.spec_.unit,
                  .kind = EventKind::send,
                  .microbatch = static_cast<std::int32_t>(microbatch),
                  .bytes = delivery.bytes * static_cast<std::int64_t>(spec_.devices.size())});
  }
  wake_if(phase_ == Phase::receiving && spec_.tasks[task_] == PipelineTask{kind, microbatch, chunk});
}

std::string PipelineExecutor::waits_for() const {
  if (phase_ == Phase::receiving) {
    const PipelineTask& task = spec_.tasks[task_];
    const bool forward = task.kind == TaskKind::forward;
    return fmt::format("{} waits for {} of microbatch {} from stage {} ({})", spec_.name,
                       forward ? "activations" : "gradients", task.microbatch,
                       stage_of(task).stage + (forward ? -1 : 1), forward ? previous_->spec_.name : next_->spec_.name);
  }
  return fmt::format("{} waits for {}", spec_.name,
                     phase_ == Phase::in_collective ? "a collective" : "the exchange of its gradients");
}

void PipelineExecutor::account_receive(const Arrival& input) {
  const Picoseconds now = simulated_now();
  const Picoseconds called = std::clamp(input.sent - spec_.send_overhead, since_, now);
  const Picoseconds sent = std::clamp(input.sent, since_, now);
  stats_.by_cause[Cause::bubble] += called - since_;
  stats_.by_cause[Cause::software] += sent - called;
  stats_.by_cause[Cause::pipeline_communication] += now - sent;
}

void PipelineExecutor::account_collective(Axis axis) {
  const Picoseconds now = simulated_now();
  const Picoseconds met = std::clamp(outcome_.last_join, since_, now);
  const Picoseconds software = std::min(outcome_.software, now - met);
  stats_.by_cause[Cause::bubble] += met - since_;
  stats_.by_cause[Cause::software] += software;
  stats_.by_cause[cause_of(axis)] += now - met - software;
  stats_.busy += now - met;
}

void PipelineExecutor::record(EventKind kind, Picoseconds start, std::int64_t microbatch, Bytes bytes) const {
  if (sink_ == nullptr) return;
  sink_->event({.start = start,
                .end = simulated_now(),
                .unit = spec_.unit,
                .kind = kind,
                .microbatch = static_cast<std::int32_t>(microbatch),
                .bytes = bytes});
}

void PipelineExecutor::record_slices(const Segment& segment) const {
  if (sink_ == nullptr) return;
  const std::int64_t microbatch = task_ < spec_.tasks.size() ? spec_.tasks[task_].microbatch : -1;
  for (const SliceOccurrence& run : segment.slices) {
    sink_->slice_run(simulated_now() + run.offset, spec_.unit, run.slice, static_cast<std::int32_t>(microbatch));
  }
}

void PipelineExecutor::record_memory() const {
  if (sink_ == nullptr) return;
  MemoryFootprint held = spec_.memory;
  const auto share = static_cast<Int128>(spec_.memory.stash.value()) * held_ / spec_.in_flight;
  held.stash = Bytes(static_cast<std::int64_t>(share));
  sink_->memory(simulated_now(), spec_.unit, held);
}

}  // namespace tandem
