// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/collective_costs.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem {
namespace {

constexpr double kChunkHops = 3e6;     ///< what a run should not exceed by much: about half a second
constexpr double kMostMessages = 3e7;  ///< beyond this even whole messages take too long

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

bool both(bool a, bool b) { return a && b; }

}  // namespace

CollectiveCosts::CollectiveCosts(const Cluster& cluster, const Program& program, Wiring& wiring, LinkModel links,
                                 OneFlow one_flow)
    : communicators_(make_communicators(program)),
      plans_(cluster, communicators_.groups),
      lock_step_(communicators_.groups.size(), false),
      layer_flow_(lock_step_),
      after_flow_(lock_step_),
      meeting_flow_(lock_step_),
      to_be_checked_(lock_step_),
      network_{.links = links},
      isolated_(cluster, network_) {
  for (const auto& seats : communicators_.seats) {
    const Seat seat = seats[static_cast<std::size_t>(Axis::tensor)];
    if (seat.group >= 0) lock_step_[static_cast<std::size_t>(seat.group)] = true;
  }
  choose_flows(program, wiring, one_flow);
  limit_messages(program, one_flow);
  isolated_ = IsolatedCollectives(cluster, network_);
  time_meeting_flows(program);
  assumptions_.push_back(fmt::format("messages share links in chunks: {} to a message at most, {} KiB at least",
                                     network_.chunks_per_message, network_.smallest_chunk.value() / 1024));
}

void CollectiveCosts::choose_flows(const Program& program, Wiring& wiring, OneFlow one_flow) {
  if (one_flow == OneFlow::none) return;
  const auto own = exclusive_groups(program, communicators_, plans_, wiring, {Phase::layers, Phase::after});
  std::transform(lock_step_.begin(), lock_step_.end(), own.begin(), after_flow_.begin(), both);
  layer_flow_ = after_flow_;
  if (one_flow == OneFlow::own_links) return;
  const auto own_in_layers = exclusive_groups(program, communicators_, plans_, wiring, {Phase::layers});
  for (std::size_t g = 0; g < layer_flow_.size(); ++g) {
    to_be_checked_[g] = lock_step_[g] && own_in_layers[g] && !own[g];
    layer_flow_[g] = layer_flow_[g] || to_be_checked_[g];
  }
}

void CollectiveCosts::limit_messages(const Program& program, OneFlow one_flow) {
  double messages = contended_messages(program);
  const auto give_up = [&](const std::string& what) {
    assumptions_.push_back(
        fmt::format("{} is left out: {:.2g} messages are more than {:.2g}", what, messages, kMostMessages));
    messages = contended_messages(program);
  };
  if (messages > kMostMessages && one_flow != OneFlow::none) {
    layer_flow_ = after_flow_ = lock_step_;
    to_be_checked_.assign(to_be_checked_.size(), false);
    give_up("contention between tensor-parallel collectives and other traffic on the same links");
  }
  if (messages > kMostMessages && one_flow != OneFlow::none) {
    meeting_flow_.assign(meeting_flow_.size(), true);
    give_up("contention between collectives, and between them and other traffic, on the same links");
  }
  network_.chunks_per_message = affordable_chunks(messages);
}

void CollectiveCosts::time_meeting_flows(const Program& program) {
  for (std::size_t device = 0; device < communicators_.seats.size(); ++device) {
    const std::int64_t position = coordinates(program.plan, static_cast<std::int64_t>(device)).pp;
    for (std::size_t a = 0; a < kAxes; ++a) {
      const Seat seat = communicators_.seats[device][a];
      if (seat.member != 0 || !meeting_flow_[static_cast<std::size_t>(seat.group)]) continue;
      for (const Phase phase : {Phase::layers, Phase::after}) {
        for (const Collective& collective : collectives_of(program, position, static_cast<Axis>(a), phase)) {
          alone(seat.group, collective);
        }
      }
    }
  }
}

double CollectiveCosts::contended_messages(const Program& program) {
  double messages = pipeline_messages(program.plan, program.stages.size());
  for (std::size_t device = 0; device < communicators_.seats.size(); ++device) {
    for (std::size_t a = 0; a < kAxes; ++a) {
      const Seat seat = communicators_.seats[device][a];
      if (seat.member != 0 || meeting_flow_[static_cast<std::size_t>(seat.group)]) continue;
      const auto axis = static_cast<Axis>(a);
      const std::int64_t position = coordinates(program.plan, static_cast<std::int64_t>(device)).pp;
      for (const Phase phase : {Phase::layers, Phase::after}) {
        const auto& flow = phase == Phase::layers ? layer_flow_ : after_flow_;
        if (flow[static_cast<std::size_t>(seat.group)]) continue;
        for (const Collective& collective : collectives_of(program, position, axis, phase)) {
          messages += static_cast<double>(calls_per_iteration(program, position, axis, collective, phase)) *
                      static_cast<double>(plans_.get(seat.group, collective).sends.size());
        }
      }
    }
  }
  return messages;
}

CollectiveTime CollectiveCosts::alone(std::int32_t group, const Collective& collective) {
  const std::array<std::int64_t, 4> key{group, static_cast<std::int64_t>(collective.kind),
                                        static_cast<std::int64_t>(collective.algorithm), collective.bytes.value()};
  const auto known = alone_.find(key);
  if (known != alone_.end()) return known->second;
  return alone_.emplace(key, isolated_.time(plans_, group, collective)).first->second;
}

CollectiveCost CollectiveCosts::cost(std::int64_t device, Axis axis, const Collective& collective, Phase phase) {
  const Seat seat = communicators_.seat(device, axis);
  if (seat.group < 0) return {};
  const auto group = static_cast<std::size_t>(seat.group);
  const bool flow = phase == Phase::layers ? layer_flow_[group] : after_flow_[group];
  CollectiveCost cost{.play = flow ? CollectivePlay::alone : CollectivePlay::contended, .alone = {}};
  // Layers are reported at their time alone.
  if (flow || phase == Phase::layers) cost.alone = alone(seat.group, collective);
  return cost;
}

std::optional<CollectiveTime> CollectiveCosts::flow_time(std::int32_t group, const Collective& collective) {
  if (!meeting_flow_[static_cast<std::size_t>(group)]) return std::nullopt;
  return alone(group, collective);
}

}  // namespace tandem
