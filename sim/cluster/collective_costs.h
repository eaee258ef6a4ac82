// SPDX-License-Identifier: Apache-2.0
// How each collective of a program is played, and how finely messages are cut, decided before the simulation starts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/cluster/communicators.h"
#include "sim/cluster/isolated_collective.h"
#include "sim/cluster/timeline.h"

namespace tandem {

/// Times that a device at pipeline position `position` calls `collective` in one iteration.
std::int64_t calls_per_iteration(const Program& program, std::int64_t position, Axis axis,
                                 const Collective& collective);

class CollectiveCosts {
 public:
  /// `keep_steps`: play even collectives on links of their own step by step.
  enum class Exclusive { one_flow, keep_steps };

  CollectiveCosts(const Cluster& cluster, const Program& program, Wiring& wiring, LinkModel links, Exclusive exclusive);

  /// Of a collective that `device` calls; its time alone is known however it is played.
  CollectiveCost cost(std::int64_t device, Axis axis, const Collective& collective);

  [[nodiscard]] const Communicators& communicators() const { return communicators_; }
  [[nodiscard]] CollectivePlans& plans() { return plans_; }
  [[nodiscard]] const NetworkSpec& network() const { return network_; }
  [[nodiscard]] const std::vector<std::string>& assumptions() const { return assumptions_; }

 private:
  [[nodiscard]] double contended_messages(const Program& program);

  Communicators communicators_;
  CollectivePlans plans_;
  std::vector<bool> one_flow_;  ///< by group
  NetworkSpec network_;
  IsolatedCollectives isolated_;
  std::vector<std::string> assumptions_;
};

}  // namespace tandem
