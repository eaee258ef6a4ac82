// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/collective_costs.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem {
namespace {

constexpr double kChunkHops = 3e6;     ///< what a run should not exceed by much: about half a second
constexpr double kMostMessages = 3e7;  ///< beyond this even whole messages take too long

std::int64_t count_calls(const std::vector<Step>& steps, Axis axis, const Collective& collective) {
  return std::count_if(steps.begin(), steps.end(), [&](const Step& step) {
    const auto* call = std::get_if<CollectiveStep>(&step);
    return call != nullptr && call->axis == axis && call->collective == collective;
  });
}

double pipeline_messages(const Plan& plan, std::size_t stages) {
  return 2.0 * static_cast<double>(stages - 1) * static_cast<double>(plan.microbatches()) *
         static_cast<double>(plan.dp * plan.cp * plan.tp);
}

/// Largest power of two up to the default number of chunks that keeps the run short.
std::int64_t affordable_chunks(double messages) {
  std::int64_t chunks = NetworkSpec{}.chunks_per_message;
  while (chunks > 1 && messages * 2 * static_cast<double>(chunks) > kChunkHops) chunks /= 2;
  return chunks;
}

}  // namespace

std::int64_t calls_per_iteration(const Program& program, std::int64_t position, Axis axis,
                                 const Collective& collective) {
  std::int64_t calls = 0;
  const std::int64_t microbatches = program.plan.microbatches();
  for (auto s = static_cast<std::size_t>(position); s < program.stages.size();
       s += static_cast<std::size_t>(program.plan.pp)) {
    const StageProgram& stage = program.stages[s];
    for (const LayerRun& run : stage.layers) {
      const LayerProgram& layer = program.layers[static_cast<std::size_t>(run.layer)];
      calls += run.count * microbatches *
               (count_calls(layer.forward, axis, collective) + count_calls(layer.backward, axis, collective));
    }
    calls += count_calls(stage.after, axis, collective);
    if (axis != Axis::data) continue;
    calls += std::count_if(stage.gradient_buckets.begin(), stage.gradient_buckets.end(),
                           [&](Bytes bytes) { return bucket_collective(program.plan, bytes) == collective; });
  }
  return calls;
}

CollectiveCosts::CollectiveCosts(const Cluster& cluster, const Program& program, Wiring& wiring, LinkModel links,
                                 Exclusive exclusive)
    : communicators_(make_communicators(program)),
      plans_(cluster, communicators_.groups),
      one_flow_(communicators_.groups.size(), false),
      network_{.links = links},
      isolated_(cluster, network_) {
  const std::vector<bool> own_links = exclusive_groups(program, communicators_, plans_, wiring);
  std::vector<bool> in_lock_step(one_flow_.size(), false);
  for (const auto& seats : communicators_.seats) {
    const Seat seat = seats[static_cast<std::size_t>(Axis::tensor)];
    if (seat.group >= 0) in_lock_step[static_cast<std::size_t>(seat.group)] = true;
  }
  if (exclusive == Exclusive::one_flow) {
    for (std::size_t g = 0; g < one_flow_.size(); ++g) one_flow_[g] = in_lock_step[g] && own_links[g];
  }
  double messages = contended_messages(program);
  if (messages > kMostMessages && exclusive == Exclusive::one_flow) {
    one_flow_ = in_lock_step;
    assumptions_.push_back(
        fmt::format("contention between tensor-parallel collectives and other traffic on the same links is left out: "
                    "{:.2g} messages "
                    "are more than {:.2g}",
                    messages, kMostMessages));
    messages = contended_messages(program);
  }
  network_.chunks_per_message = affordable_chunks(messages);
  isolated_ = IsolatedCollectives(cluster, network_);
  assumptions_.push_back(fmt::format("messages share links in chunks: {} to a message at most, {} KiB at least",
                                     network_.chunks_per_message, network_.smallest_chunk.value() / 1024));
}

double CollectiveCosts::contended_messages(const Program& program) {
  double messages = pipeline_messages(program.plan, program.stages.size());
  for (std::size_t device = 0; device < communicators_.seats.size(); ++device) {
    for (std::size_t a = 0; a < kAxes; ++a) {
      const Seat seat = communicators_.seats[device][a];
      if (seat.member != 0 || one_flow_[static_cast<std::size_t>(seat.group)]) continue;
      const auto axis = static_cast<Axis>(a);
      const std::int64_t position = coordinates(program.plan, static_cast<std::int64_t>(device)).pp;
      for (const Collective& collective : collectives_of(program, position, axis)) {
        messages += static_cast<double>(calls_per_iteration(program, position, axis, collective)) *
                    static_cast<double>(plans_.get(seat.group, collective).sends.size());
      }
    }
  }
  return messages;
}

CollectiveCost CollectiveCosts::cost(std::int64_t device, Axis axis, const Collective& collective) {
  const Seat seat = communicators_.seat(device, axis);
  if (seat.group < 0) return {};
  const bool alone = one_flow_[static_cast<std::size_t>(seat.group)];
  CollectiveCost cost{.play = alone ? CollectivePlay::alone : CollectivePlay::contended, .alone = {}};
  // Layers are reported at their time alone; gradients are not part of a layer.
  if (alone || cause_of(axis) == Cause::tensor_communication)
    cost.alone = isolated_.time(plans_, seat.group, collective);
  return cost;
}

}  // namespace tandem
