// SPDX-License-Identifier: Apache-2.0
// From operators to an iteration: slices, layers, stages, the pipeline, and what follows it.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "arch/support/error.h"
#include "search/communication.h"
#include "search/predict.h"
#include "workloads/pipeline.h"

namespace tandem {
namespace {

/// Plays the schedule with whole picoseconds and follows the critical path back from its end.
class SlicePlay {
 public:
  SlicePlay(const Slice& slice, std::vector<OperatorAnswer>& operators) : slice_(slice), operators_(operators) {
    if (slice.mappings.size() != operators.size())
      throw std::invalid_argument("slice " + slice.name + " is not mapped");
    before_.resize(operators.size(), -1);
  }

  SliceAnswer play() {
    const auto predecessors = slice_.graph.predecessors();
    std::vector<std::int32_t> earlier;
    std::int32_t last = -1;
    for (const std::int32_t index : slice_.schedule.order) {
      const auto i = static_cast<std::size_t>(index);
      for (const std::int32_t from : predecessors[i]) wait_for(i, from);
      for (const std::int32_t other : earlier) {
        if (share_core(slice_.mappings[i], slice_.mappings[static_cast<std::size_t>(other)])) wait_for(i, other);
      }
      earlier.push_back(index);
      if (last < 0 || end_of(index) > end_of(last)) last = index;
    }
    SliceAnswer answer;
    answer.name = slice_.name;
    for (; last >= 0; last = before_[static_cast<std::size_t>(last)]) {
      answer.by_cause += operators_[static_cast<std::size_t>(last)].by_cause;
    }
    answer.time = answer.by_cause.total();
    return answer;
  }

 private:
  static bool overlap(const CoreRange& a, const CoreRange& b) {
    return a.count > 0 && b.count > 0 && a.first < b.first + b.count && b.first < a.first + a.count;
  }
  static bool share_core(const Mapping& a, const Mapping& b) {
    return overlap(a.tensor_cores, b.tensor_cores) || overlap(a.vector_cores, b.vector_cores);
  }
  [[nodiscard]] Picoseconds end_of(std::int32_t index) const {
    const OperatorAnswer& op = operators_[static_cast<std::size_t>(index)];
    return op.start + op.time;
  }
  void wait_for(std::size_t i, std::int32_t other) {
    if (end_of(other) <= operators_[i].start) return;
    operators_[i].start = end_of(other);
    before_[i] = other;
  }

  const Slice& slice_;
  std::vector<OperatorAnswer>& operators_;
  std::vector<std::int32_t> before_;  ///< whose end an operator started at
};

/// One microbatch of a (virtual) stage.
struct StageWork {
  TimeByCause forward, backward, weight;
  std::vector<Picoseconds> gradient_layers;  ///< time to each layer's gradients of weights, last layer first
};

class Predictor {
 public:
  Predictor(const Cluster& cluster, const Program& program, CommunicationMemo* memo)
      : cluster_(cluster), program_(program), communication_(cluster, program.plan, memo) {}

  Answer predict() {
    predict_slices();
    predict_layers();
    for (std::size_t stage = 0; stage < program_.stages.size(); ++stage) work_.push_back(stage_work(stage));
    predict_iteration();
    answer_.assumptions = assumptions();
    return std::move(answer_);
  }

 private:
  void predict_slices() {
    for (const Slice& slice : program_.slices) {
      std::vector<OperatorAnswer> operators;
      for (std::size_t i = 0; i < slice.mappings.size(); ++i) {
        operators.push_back(predict_operator(cluster_.chip, slice.graph.operators[i], slice.mappings[i]));
        operators.back().slice = slice.name;
      }
      if (operators.size() != slice.graph.operators.size()) {
        throw std::invalid_argument("slice " + slice.name + " is not mapped");
      }
      answer_.slices.push_back(SlicePlay(slice, operators).play());
      answer_.slices.back().host = to_picoseconds(cluster_.issue_overhead * static_cast<double>(operators.size()));
      answer_.operators.insert(answer_.operators.end(), operators.begin(), operators.end());
    }
  }

  TimeByCause steps_time(const std::vector<Step>& steps, std::int64_t device) {
    TimeByCause time;
    for (const Step& step : steps) {
      if (const auto* compute = std::get_if<ComputeStep>(&step)) {
        time += answer_.slices[static_cast<std::size_t>(compute->slice)].by_cause;
      } else {
        const auto& call = std::get<CollectiveStep>(step);
        const std::int64_t stage = call.axis == Axis::embedding ? 0 : device;
        const Picoseconds whole = communication_.collective(call.axis, call.collective, stage);
        const Picoseconds software = communication_.software(call.axis, call.collective, stage);
        time[Cause::software] += software;
        time[cause_of(call.axis)] += whole - software;
      }
    }
    return time;
  }

  /// One pass of a layer, which takes no less than its host needs, `host` included.
  TimeByCause pass_time(const std::vector<Step>& steps, std::int64_t device, Picoseconds host = {}) {
    TimeByCause time = steps_time(steps, device);
    for (const Step& step : steps) {
      const auto* compute = std::get_if<ComputeStep>(&step);
      host += compute == nullptr ? to_picoseconds(cluster_.issue_overhead)
                                 : answer_.slices[static_cast<std::size_t>(compute->slice)].host;
    }
    time[Cause::software] += host_wait(time.total(), host);
    return time;
  }

  /// What the host does for a microbatch beside launching operators stands with the head, whose loss it ends in.
  [[nodiscard]] Picoseconds host_of(std::int32_t layer) const {
    return layer == kHeadLayer ? to_picoseconds(cluster_.microbatch_overhead) : Picoseconds(0);
  }

  void predict_layers() {
    for (std::size_t i = 0; i < program_.layers.size(); ++i) {
      const LayerProgram& layer = program_.layers[i];
      const TimeByCause forward = pass_time(layer.forward, 0, host_of(static_cast<std::int32_t>(i)));
      TimeByCause both = pass_time(layer.backward, 0);
      both += pass_time(layer.weight, 0);
      const Picoseconds backward = both.total();
      both += forward;
      answer_.layers.push_back({layer.name, forward.total(), backward, both});
    }
  }

  StageWork stage_work(std::size_t stage) {
    const std::int64_t device = static_cast<std::int64_t>(stage) % program_.plan.pp;
    const StageProgram& program = program_.stages[stage];
    StageWork work;
    for (auto run = program.layers.rbegin(); run != program.layers.rend(); ++run) {
      const LayerProgram& layer = program_.layers[static_cast<std::size_t>(run->layer)];
      work.forward += pass_time(layer.forward, device, host_of(run->layer)).times(run->count);
      const TimeByCause backward = pass_time(layer.backward, device);
      const TimeByCause weight = pass_time(layer.weight, device);
      work.backward += backward.times(run->count);
      work.weight += weight.times(run->count);
      if (run->layer >= kModelLayers) continue;  // without parameters
      const Picoseconds gradients = splits_backward(program_.plan.schedule) ? weight.total() : backward.total();
      work.gradient_layers.insert(work.gradient_layers.end(), static_cast<std::size_t>(run->count), gradients);
    }
    return work;
  }

  /// Stage times with or without the time of messages between stages.
  [[nodiscard]] std::vector<StageTimes> stage_times(bool sends) {
    const std::int64_t pp = program_.plan.pp;
    std::vector<StageTimes> times;
    for (std::size_t stage = 0; stage < work_.size(); ++stage) {
      StageTimes one{to_seconds(work_[stage].forward.total()), to_seconds(work_[stage].backward.total())};
      one.weight = to_seconds(work_[stage].weight.total());
      if (sends) {
        const std::int64_t device = static_cast<std::int64_t>(stage) % pp;
        const StageProgram& program = program_.stages[stage];
        one.send_forward = to_seconds(communication_.send(program.send_forward, device, (device + 1) % pp));
        one.send_backward = to_seconds(communication_.send(program.send_backward, device, (device + pp - 1) % pp));
        if (program_.plan.blocking_sends) {
          one.held_forward = one.send_forward;
          one.held_backward = one.send_backward;
        }
      }
      times.push_back(one);
    }
    return times;
  }

  /// Gradient exchange that outlasts the last backward pass: buckets follow each other, each once its layer is done.
  [[nodiscard]] Picoseconds exposed_exchange(std::int64_t device) {
    const Plan& plan = program_.plan;
    const auto kind = plan.zero_stage == 0 ? CollectiveKind::all_reduce : CollectiveKind::reduce_scatter;
    std::vector<std::pair<Picoseconds, Bytes>> buckets;  // layer's backward time
    Picoseconds left{};
    for (auto stage = static_cast<std::int64_t>(work_.size()) - plan.pp + device; stage >= 0; stage -= plan.pp) {
      const auto& sizes = program_.stages[static_cast<std::size_t>(stage)].gradient_buckets;
      const auto& layers = work_[static_cast<std::size_t>(stage)].gradient_layers;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const Picoseconds time = i < layers.size() ? layers[i] : Picoseconds(0);
        buckets.emplace_back(time, sizes[i]);
        left += time;
      }
    }
    Picoseconds finished = -left;  // relative to the end of the last backward pass
    for (const auto& [time, bytes] : buckets) {
      left -= time;
      finished = std::max(finished, -left) + communication_.collective(Axis::data, {kind, bytes}, device);
    }
    return std::max(Picoseconds(0), finished);
  }

  void predict_iteration() {
    const Plan& plan = program_.plan;
    const PipelineTime with_sends =
        pipeline_time(plan.schedule, plan.microbatches(), plan.virtual_stages, stage_times(true));
    const PipelineTime without_sends =
        pipeline_time(plan.schedule, plan.microbatches(), plan.virtual_stages, stage_times(false));
    std::vector<Picoseconds> ends;
    for (std::int64_t device = 0; device < plan.pp; ++device) {
      ends.push_back(add_stage(device, with_sends.end[static_cast<std::size_t>(device)],
                               without_sends.end[static_cast<std::size_t>(device)]));
    }
    const auto last = std::max_element(ends.begin(), ends.end());
    const Picoseconds overhead = to_picoseconds(cluster_.iteration_overhead);
    for (std::size_t device = 0; device < ends.size(); ++device) {
      answer_.stages[device].by_cause[Cause::bubble] += *last - ends[device];
      answer_.stages[device].by_cause[Cause::software] += overhead;
    }
    IterationAnswer& iteration = answer_.iteration;
    const auto busiest = std::max_element(answer_.stages.begin(), answer_.stages.end(),
                                          [](const auto& a, const auto& b) { return a.busy < b.busy; });
    iteration.by_cause = busiest->by_cause;
    iteration.time = iteration.by_cause.total();
    const double seconds = to_seconds(iteration.time).count();
    iteration.tokens_per_second = static_cast<double>(checked_product(plan.global_batch, plan.sequence)) / seconds;
    const double peak = cluster_.chip.peak(plan.dtype).value() * static_cast<double>(plan.devices());
    iteration.mfu = model_flops(program_.model, plan.global_batch, plan.sequence) / (peak * seconds);
  }

  /// Adds the answer of a pipeline device; returns when it has done everything.
  Picoseconds add_stage(std::int64_t device, Seconds pipeline_end, Seconds end_without_sends) {
    const Plan& plan = program_.plan;
    StageAnswer stage;
    TimeByCause after;
    for (auto s = static_cast<std::size_t>(device); s < work_.size(); s += static_cast<std::size_t>(plan.pp)) {
      stage.forward += work_[s].forward.total();
      stage.backward += work_[s].backward.total() + work_[s].weight.total();
      TimeByCause both = work_[s].forward;
      both += work_[s].backward;
      both += work_[s].weight;
      stage.by_cause += both.times(plan.microbatches());
      after += steps_time(program_.stages[s].after, device);
    }
    const Picoseconds busy = stage.by_cause.total();
    const Picoseconds end = std::max(busy, to_picoseconds(pipeline_end));
    const Picoseconds waiting = end - busy;
    const Picoseconds for_sends = std::clamp(to_picoseconds(pipeline_end - end_without_sends), Picoseconds(0), waiting);
    stage.by_cause[Cause::pipeline_communication] += for_sends;
    stage.by_cause[Cause::bubble] += waiting - for_sends;
    stage.by_cause[Cause::data_communication] += exposed_exchange(device);
    stage.by_cause += after;
    stage.busy = busy + after.total();
    if (static_cast<std::size_t>(device) < program_.memory.size()) {
      stage.memory = program_.memory[static_cast<std::size_t>(device)];
    }
    answer_.stages.push_back(stage);
    return stage.by_cause.total();
  }

  [[nodiscard]] std::vector<std::string> assumptions() const {
    std::vector<std::string> list{
        "operator time is launch, first load, the slowest of compute, vector work, HBM, NoC and buffer room, last "
        "store",
        "operators that run side by side do not slow each other down at HBM, NoC or global buffer",
        "HBM sustains its peak less refresh and row limits; no turnaround between reads and writes, no bank conflicts",
        "all groups of a pipeline stage communicate at once and share links evenly; different stages do not meet",
        program_.plan.blocking_sends
            ? "messages between pipeline stages hold up their senders and do not wait for each other"
            : "messages between pipeline stages occupy no device and do not wait for each other",
        "layers of one kind take the same time in every stage and microbatch"};
    const bool reduces = std::any_of(cluster_.levels.begin(), cluster_.levels.end(),
                                     [](const Level& level) { return level.in_network_reduction; });
    if (reduces) list.emplace_back("reduction inside the network is not used");
    if (program_.plan.overlap_gradients) {
      list.emplace_back("gradient exchange overlaps the last backward passes without slowing them down");
    }
    return list;
  }

  const Cluster& cluster_;
  const Program& program_;
  Communication communication_;
  Answer answer_;
  std::vector<StageWork> work_;
};

}  // namespace

Answer predict(const Cluster& cluster, const Program& program, CommunicationMemo* memo) {
  const std::int64_t needed = program.plan.devices();
  if (needed > cluster.devices()) {
    throw InfeasibleError(fmt::format("plan needs {} devices, {} has {}", needed, cluster.name, cluster.devices()));
  }
  return Predictor(cluster, program, memo).predict();
}

}  // namespace tandem
