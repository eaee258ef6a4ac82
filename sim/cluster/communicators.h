// SPDX-License-Identifier: Apache-2.0
// Who talks to whom in a program, and which links nobody else uses.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "sim/cluster/collective_plan.h"
#include "sim/network/wiring.h"
#include "workloads/program.h"

namespace tandem {

inline constexpr std::size_t kAxes = EnumNames<Axis>::values.size();

/// A device's place in a group; -1: it has none.
struct Seat {
  std::int32_t group = -1, member = -1;
};

struct Communicators {
  std::vector<CommunicationGroup> groups;
  std::vector<std::array<Seat, kAxes>> seats;  ///< [device][axis]

  [[nodiscard]] Seat seat(std::int64_t device, Axis axis) const {
    return seats[static_cast<std::size_t>(device)][static_cast<std::size_t>(axis)];
  }
};

/// Groups of more than one device along every axis that the device's own stages use. Along the pipeline axis only the
/// devices whose stages call a collective there belong to the group (tied embeddings: the first and the last).
Communicators make_communicators(const Program& program);

/// Part of an iteration: forward and backward with the gradient buckets sent meanwhile, or what comes after the last
/// backward.
enum class Phase { layers, after };

/// Distinct collectives that a device of pipeline position `position` calls along `axis`.
std::vector<Collective> collectives_of(const Program& program, std::int64_t position, Axis axis, Phase phase);

/// Times that it calls `collective` in one iteration.
std::int64_t calls_per_iteration(const Program& program, std::int64_t position, Axis axis, const Collective& collective,
                                 Phase phase);

/// The exchange of one bucket of gradients while backward still runs: a reduce-scatter where ZeRO shards gradients or
/// optimizer states, else an all-reduce.
Collective bucket_collective(const Plan& plan, Bytes bytes);

/// Virtual stages are spread round robin: stage v runs on pipeline position v % pp.
inline std::int64_t stages_per_device(const Program& program) {
  return static_cast<std::int64_t>(program.stages.size()) / program.plan.pp;
}

/// For each group, whether no other group and no point-to-point message uses a link of its collectives in any of
/// `phases`; only what is called in them counts.
std::vector<bool> exclusive_groups(const Program& program, const Communicators& communicators, CollectivePlans& plans,
                                   Wiring& wiring, std::initializer_list<Phase> phases);

}  // namespace tandem
