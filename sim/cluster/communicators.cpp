// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster/communicators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tandem {
namespace {

void collect(const std::vector<Step>& steps, Axis axis, std::vector<Collective>& found) {
  for (const Step& step : steps) {
    const auto* call = std::get_if<CollectiveStep>(&step);
    if (call == nullptr || call->axis != axis) continue;
    if (std::find(found.begin(), found.end(), call->collective) == found.end()) found.push_back(call->collective);
  }
}

std::int64_t count_calls(const std::vector<Step>& steps, Axis axis, const Collective& collective) {
  return std::count_if(steps.begin(), steps.end(), [&](const Step& step) {
    const auto* call = std::get_if<CollectiveStep>(&step);
    return call != nullptr && call->axis == axis && call->collective == collective;
  });
}

/// By pipeline position and axis.
using CallTable = std::vector<std::array<std::vector<Collective>, kAxes>>;

CallTable call_table(const Program& program, std::initializer_list<Phase> phases) {
  CallTable table(static_cast<std::size_t>(program.plan.pp));
  for (std::size_t position = 0; position < table.size(); ++position) {
    for (const auto& [axis, name] : EnumNames<Axis>::values) {
      std::vector<Collective>& calls = table[position][static_cast<std::size_t>(axis)];
      for (const Phase phase : phases) {
        const auto more = collectives_of(program, static_cast<std::int64_t>(position), axis, phase);
        calls.insert(calls.end(), more.begin(), more.end());
      }
    }
  }
  return table;
}

std::vector<std::int64_t> calling_members(const Program& program, const CallTable& calls, Axis axis,
                                          const Coordinates& at) {
  std::vector<std::int64_t> members = group(program.plan, axis, at);
  if (axis != Axis::pipeline) return members;
  std::erase_if(members, [&](std::int64_t device) {
    const auto position = static_cast<std::size_t>(coordinates(program.plan, device).pp);
    return calls[position][static_cast<std::size_t>(axis)].empty();
  });
  return members;
}

/// Marks who uses each link.
class LinkOwners {
 public:
  static constexpr std::int32_t kShared = -2;

  LinkOwners(Wiring& wiring) : wiring_(wiring), owner_(wiring.links().size(), -1) {}

  void use(std::int64_t from, std::int64_t to, std::int32_t owner) {
    for (const LinkId link : wiring_.route(from, to)) {
      std::int32_t& present = owner_[static_cast<std::size_t>(link)];
      present = present == -1 || present == owner ? owner : kShared;
    }
  }
  [[nodiscard]] bool owns(std::int64_t from, std::int64_t to, std::int32_t owner) {
    const Route& route = wiring_.route(from, to);
    return std::all_of(route.begin(), route.end(),
                       [&](LinkId link) { return owner_[static_cast<std::size_t>(link)] == owner; });
  }

 private:
  Wiring& wiring_;
  std::vector<std::int32_t> owner_;
};

void use_pipeline_links(const Program& program, LinkOwners& owners) {
  const Plan& plan = program.plan;
  const auto last = static_cast<std::int64_t>(program.stages.size()) - 1;
  for (std::int64_t device = 0; device < plan.devices(); ++device) {
    Coordinates at = coordinates(plan, device);
    const std::int64_t position = at.pp;
    for (std::int64_t stage = position; stage <= last; stage += plan.pp) {
      at.pp = (stage + 1) % plan.pp;
      if (stage < last) owners.use(device, device_at(plan, at), LinkOwners::kShared);
      at.pp = (stage + plan.pp - 1) % plan.pp;
      if (stage > 0) owners.use(device, device_at(plan, at), LinkOwners::kShared);
    }
  }
}

}  // namespace

Collective bucket_collective(const Plan& plan, Bytes bytes) {
  return {.kind = plan.zero_stage > 0 ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, .bytes = bytes};
}

std::vector<Collective> collectives_of(const Program& program, std::int64_t position, Axis axis, Phase phase) {
  std::vector<Collective> found;
  for (auto s = static_cast<std::size_t>(position); s < program.stages.size();
       s += static_cast<std::size_t>(program.plan.pp)) {
    const StageProgram& stage = program.stages[s];
    if (phase == Phase::after) {
      collect(stage.after, axis, found);
      continue;
    }
    for (const LayerRun& run : stage.layers) {
      collect(program.layers[static_cast<std::size_t>(run.layer)].forward, axis, found);
      collect(program.layers[static_cast<std::size_t>(run.layer)].backward, axis, found);
      collect(program.layers[static_cast<std::size_t>(run.layer)].weight, axis, found);
    }
    if (axis != Axis::data) continue;
    for (const Bytes bytes : stage.gradient_buckets) {
      const Collective bucket = bucket_collective(program.plan, bytes);
      if (std::find(found.begin(), found.end(), bucket) == found.end()) found.push_back(bucket);
    }
  }
  return found;
}

std::int64_t calls_per_iteration(const Program& program, std::int64_t position, Axis axis, const Collective& collective,
                                 Phase phase) {
  std::int64_t calls = 0;
  const std::int64_t microbatches = program.plan.microbatches();
  for (auto s = static_cast<std::size_t>(position); s < program.stages.size();
       s += static_cast<std::size_t>(program.plan.pp)) {
    const StageProgram& stage = program.stages[s];
    if (phase == Phase::after) {
      calls += count_calls(stage.after, axis, collective);
      continue;
    }
    for (const LayerRun& run : stage.layers) {
      const LayerProgram& layer = program.layers[static_cast<std::size_t>(run.layer)];
      calls += run.count * microbatches *
               (count_calls(layer.forward, axis, collective) + count_calls(layer.backward, axis, collective) +
                count_calls(layer.weight, axis, collective));
    }
    if (axis != Axis::data) continue;
    calls += std::count_if(stage.gradient_buckets.begin(), stage.gradient_buckets.end(),
                           [&](Bytes bytes) { return bucket_collective(program.plan, bytes) == collective; });
  }
  return calls;
}

Communicators make_communicators(const Program& program) {
  const Plan& plan = program.plan;
  const CallTable calls = call_table(program, {Phase::layers, Phase::after});
  Communicators communicators;
  communicators.seats.resize(static_cast<std::size_t>(plan.devices()));
  std::map<std::pair<Axis, std::int64_t>, std::int32_t> known;
  std::array<std::int64_t, kAxes> count{};
  for (std::int64_t device = 0; device < plan.devices(); ++device) {
    const Coordinates at = coordinates(plan, device);
    for (const auto& [axis, name] : EnumNames<Axis>::values) {
      const auto a = static_cast<std::size_t>(axis);
      if (calls[static_cast<std::size_t>(at.pp)][a].empty()) continue;
      const std::vector<std::int64_t> members = calling_members(program, calls, axis, at);
      const auto self = std::find(members.begin(), members.end(), device);
      if (members.size() < 2 || self == members.end()) continue;
      const auto [entry, fresh] =
          known.try_emplace({axis, members.front()}, static_cast<std::int32_t>(communicators.groups.size()));
      if (fresh) communicators.groups.push_back({fmt::format("{} group {}", name, count[a]++), members});
      communicators.seats[static_cast<std::size_t>(device)][a] = {entry->second,
                                                                  static_cast<std::int32_t>(self - members.begin())};
    }
  }
  return communicators;
}

std::vector<bool> exclusive_groups(const Program& program, const Communicators& communicators, CollectivePlans& plans,
                                   Wiring& wiring, std::initializer_list<Phase> phases) {
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> pairs(communicators.groups.size());
  const CallTable calls = call_table(program, phases);
  for (std::size_t device = 0; device < communicators.seats.size(); ++device) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      const Seat seat = communicators.seats[device][axis];
      if (seat.member != 0) continue;
      const std::vector<std::int64_t>& devices = communicators.groups[static_cast<std::size_t>(seat.group)].devices;
      const auto position = static_cast<std::size_t>(coordinates(program.plan, static_cast<std::int64_t>(device)).pp);
      for (const Collective& collective : calls[position][axis]) {
        for (const auto& [from, to] : plans.get(seat.group, collective).pairs()) {
          pairs[static_cast<std::size_t>(seat.group)].emplace_back(devices[static_cast<std::size_t>(from)],
                                                                   devices[static_cast<std::size_t>(to)]);
        }
      }
    }
  }
  LinkOwners owners(wiring);
  use_pipeline_links(program, owners);
  for (std::size_t group = 0; group < pairs.size(); ++group) {
    for (const auto& [from, to] : pairs[group]) owners.use(from, to, static_cast<std::int32_t>(group));
  }
  std::vector<bool> exclusive(pairs.size(), true);
  for (std::size_t group = 0; group < pairs.size(); ++group) {
    exclusive[group] = std::all_of(pairs[group].begin(), pairs[group].end(), [&](const auto& pair) {
      return owners.owns(pair.first, pair.second, static_cast<std::int32_t>(group));
    });
  }
  return exclusive;
}

}  // namespace tandem
