// SPDX-License-Identifier: Apache-2.0
// How each collective of a program is played, and how finely messages are cut, decided before the simulation starts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/communicators.h"
#include "sim/cluster/isolated_collective.h"
#include "sim/cluster/timeline.h"

namespace tandem {

/// Which tensor-parallel collectives are one flow instead of their steps.
enum class OneFlow {
  none,
  own_links,               ///< nobody else uses their links in the whole iteration
  own_links_while_layers,  ///< nobody else does until the last backward; whether gradients kept away is seen afterwards
};

class CollectiveCosts {
 public:
  CollectiveCosts(const Cluster& cluster, const Program& program, Wiring& wiring, LinkModel links, OneFlow one_flow);

  /// Of a collective that `device` calls; its time alone is known for those inside layers, however they are played.
  CollectiveCost cost(std::int64_t device, Axis axis, const Collective& collective, Phase phase);
  /// The time of a collective that is played as one flow from the moment its last member has come; nothing for one that
  /// is played step by step.
  std::optional<CollectiveTime> flow_time(std::int32_t group, const Collective& collective);

  /// Groups that are one flow only if no gradients cross their links before their last backward has ended.
  [[nodiscard]] const std::vector<bool>& to_be_checked() const { return to_be_checked_; }
  [[nodiscard]] const Communicators& communicators() const { return communicators_; }
  [[nodiscard]] CollectivePlans& plans() { return plans_; }
  [[nodiscard]] const NetworkSpec& network() const { return network_; }
  [[nodiscard]] const std::vector<std::string>& assumptions() const { return assumptions_; }

 private:
  void choose_flows(const Program& program, Wiring& wiring, OneFlow one_flow);
  /// Gives up steps where they would be too many, and says so.
  void limit_messages(const Program& program, OneFlow one_flow);
  [[nodiscard]] double contended_messages(const Program& program);
  /// Before the simulation that asks for them: only one may be alive.
  void time_meeting_flows(const Program& program);
  CollectiveTime alone(std::int32_t group, const Collective& collective);

  Communicators communicators_;
  CollectivePlans plans_;
  std::vector<bool> lock_step_;      ///< by group: its members begin together, always
  std::vector<bool> layer_flow_;     ///< by group: one flow inside layers
  std::vector<bool> after_flow_;     ///< by group: one flow after the last backward
  std::vector<bool> meeting_flow_;   ///< by group: one flow from the moment that the last member has come
  std::vector<bool> to_be_checked_;  ///< by group
  NetworkSpec network_;
  IsolatedCollectives isolated_;
  std::map<std::array<std::int64_t, 4>, CollectiveTime> alone_;  ///< by group, kind, algorithm, bytes
  std::vector<std::string> assumptions_;
};

}  // namespace tandem
