// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/collective_engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/support/units.h"

namespace tandem {
namespace {

std::string text_of(const Collective& collective) {
  return fmt::format("{} of {} ({})", name_of(collective.kind), to_text(collective.bytes),
                     name_of(collective.algorithm));
}

/// A message's sequence number is the number of its collective and the index of its send.
constexpr int kSendBits = 32;

}  // namespace

CollectiveEngine::CollectiveEngine(sc_core::sc_module_name name, const CommunicationOverhead& overhead,
                                   Network& network, CollectivePlans& plans, FlowTimes flow_times)
    : sc_module(name),
      network_(network),
      plans_(plans),
      collective_overhead_(to_picoseconds(overhead.collective)),
      step_overhead_(to_picoseconds(overhead.step)),
      states_(plans.groups().size()),
      flow_times_(std::move(flow_times)) {
  SC_HAS_PROCESS(CollectiveEngine);
  SC_METHOD(end_flows);
  sensitive << flow_ends_.event();
  dont_initialize();
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i].calls.assign(groups()[i].devices.size(), 0);
}

void CollectiveEngine::join(std::int32_t group, std::int32_t member, const Collective& collective,
                            CollectiveClient& client, std::int64_t token) {
  GroupState& state = states_.at(static_cast<std::size_t>(group));
  const std::int64_t number = state.calls[static_cast<std::size_t>(member)]++;
  Run& run = run_of(group, number, collective);
  if (run.collective != collective) refuse(group, member, run, collective);
  Member& self = run.members[static_cast<std::size_t>(member)];
  self.client = &client;
  self.token = token;
  ++run.joined;
  run.last_join = simulated_now();
  if (run.flow) {
    if (run.joined == static_cast<std::int64_t>(run.members.size())) {
      flow_ends_.push(run.last_join + run.flow->time, {group, number});
    }
    return;
  }
  begin_step(group, number, member, simulated_now() + collective_overhead_);
  advance(group, number, member);
}

CollectiveEngine::Run& CollectiveEngine::run_of(std::int32_t group, std::int64_t number, const Collective& collective) {
  GroupState& state = states_[static_cast<std::size_t>(group)];
  const auto index = static_cast<std::size_t>(number - state.first_run);
  if (index == state.runs.size()) {
    Run run;
    run.collective = collective;
    run.plan = &plans_.get(group, collective);
    run.members.resize(state.calls.size());
    run.received.assign(run.plan->receives.size(), 0);
    if (flow_times_) run.flow = flow_times_(group, collective);
    if (run.flow) count_flow(group, collective);
    state.runs.push_back(std::move(run));
    ++collectives_;
  }
  return state.runs[index];
}

void CollectiveEngine::begin_step(std::int32_t group, std::int64_t number, std::int32_t member, Picoseconds start) {
  GroupState& state = states_[static_cast<std::size_t>(group)];
  Run& run = state.runs[static_cast<std::size_t>(number - state.first_run)];
  const CollectivePlan& plan = *run.plan;
  Member& self = run.members[static_cast<std::size_t>(member)];
  // Steps in which the member neither sends nor receives pass it by.
  for (++self.step; self.step < plan.steps; ++self.step) {
    const std::size_t slot = plan.slot(member, self.step);
    if (plan.first_send[slot] != plan.first_send[slot + 1] || plan.receives[slot] > 0) break;
  }
  if (self.step >= plan.steps) return;
  ++self.overheads;
  const std::size_t slot = plan.slot(member, self.step);
  const auto& devices = groups()[static_cast<std::size_t>(group)].devices;
  for (std::int32_t i = plan.first_send[slot]; i < plan.first_send[slot + 1]; ++i) {
    const CollectivePlan::PlannedSend& send = plan.sends[static_cast<std::size_t>(i)];
    const MessageKey key{.flow = group,
                         .sequence = (number << kSendBits) | i,
                         .from = devices[static_cast<std::size_t>(send.from)],
                         .to = devices[static_cast<std::size_t>(send.to)]};
    ++self.sends_under_way;
    network_.send(key, send.bytes, start + step_overhead_, *this);
  }
}

void CollectiveEngine::delivered(const Delivery& delivery) {
  const auto group = static_cast<std::int32_t>(delivery.key.flow);
  const std::int64_t number = delivery.key.sequence >> kSendBits;
  const std::int64_t index = delivery.key.sequence & ((std::int64_t{1} << kSendBits) - 1);
  GroupState& state = states_[static_cast<std::size_t>(group)];
  Run& run = state.runs[static_cast<std::size_t>(number - state.first_run)];
  const CollectivePlan::PlannedSend& send = run.plan->sends[static_cast<std::size_t>(index)];
  --run.members[static_cast<std::size_t>(send.from)].sends_under_way;
  ++run.received[run.plan->slot(send.to, send.step)];
  const std::int32_t from = send.from;
  const std::int32_t to = send.to;
  advance(group, number, from);
  advance(group, number, to);
}

void CollectiveEngine::advance(std::int32_t group, std::int64_t number, std::int32_t member) {
  GroupState& state = states_[static_cast<std::size_t>(group)];
  if (number < state.first_run) return;  // a client's answer to the call before this one has ended the run
  Run& run = state.runs[static_cast<std::size_t>(number - state.first_run)];
  Member& self = run.members[static_cast<std::size_t>(member)];
  if (self.client == nullptr || self.done) return;
  while (self.step < run.plan->steps) {
    const std::size_t slot = run.plan->slot(member, self.step);
    const std::int32_t receives = run.plan->receives[slot];
    if (receives > 0 ? run.received[slot] < receives : self.sends_under_way > 0) return;
    begin_step(group, number, member, simulated_now());
  }
  finish(group, number, member);
}

void CollectiveEngine::finish(std::int32_t group, std::int64_t number, std::int32_t member) {
  GroupState& state = states_[static_cast<std::size_t>(group)];
  Run& run = state.runs[static_cast<std::size_t>(number - state.first_run)];
  Member& self = run.members[static_cast<std::size_t>(member)];
  self.done = true;
  ++run.done;
  const Picoseconds software = run.flow ? run.flow->software : collective_overhead_ + self.overheads * step_overhead_;
  const CollectiveOutcome outcome{
      .group = group, .member = member, .token = self.token, .last_join = run.last_join, .software = software};
  CollectiveClient& client = *self.client;
  while (!state.runs.empty() && state.runs.front().done == static_cast<std::int64_t>(state.calls.size())) {
    state.runs.pop_front();
    ++state.first_run;
  }
  client.collective_done(outcome);
}

void CollectiveEngine::end_flows() {
  flow_ends_.serve_due([this](const FlowEnd& end) {
    const auto members = static_cast<std::int32_t>(groups()[static_cast<std::size_t>(end.group)].devices.size());
    for (std::int32_t member = 0; member < members; ++member) finish(end.group, end.number, member);
  });
}

void CollectiveEngine::count_flow(std::int32_t group, const Collective& collective) {
  const auto known = std::find_if(flows_.begin(), flows_.end(), [&](const FlowCount& flow) {
    return flow.group == group && flow.collective == collective;
  });
  if (known == flows_.end()) {
    flows_.push_back({group, collective, 1});
  } else {
    ++known->times;
  }
}

void CollectiveEngine::refuse(std::int32_t group, std::int32_t member, const Run& run,
                              const Collective& collective) const {
  const CommunicationGroup& members = groups()[static_cast<std::size_t>(group)];
  std::vector<std::int64_t> others;
  for (std::size_t i = 0; i < run.members.size(); ++i) {
    if (run.members[i].client != nullptr) others.push_back(members.devices[i]);
  }
  throw CollectiveMismatch(fmt::format("{}: device {} calls {} where device{} {} called {}", members.name,
                                       members.devices[static_cast<std::size_t>(member)], text_of(collective),
                                       others.size() == 1 ? "" : "s", fmt::join(others, ", "),
                                       text_of(run.collective)));
}

std::vector<std::string> CollectiveEngine::unfinished() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    for (const Run& run : states_[i].runs) lines.push_back(describe(groups()[i], run));
  }
  return lines;
}

std::string CollectiveEngine::describe(const CommunicationGroup& group, const Run& run) const {
  std::vector<std::int64_t> waiting, missing;
  for (std::size_t i = 0; i < run.members.size(); ++i) {
    if (run.members[i].client == nullptr) {
      missing.push_back(group.devices[i]);
    } else if (!run.members[i].done) {
      waiting.push_back(group.devices[i]);
    }
  }
  return fmt::format("{} in {}: devices {} wait for devices {}", text_of(run.collective), group.name,
                     fmt::join(waiting, ", "), fmt::join(missing, ", "));
}

}  // namespace tandem
