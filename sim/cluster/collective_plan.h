// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arch/cluster.h"
#include "workloads/collectives.h"

namespace tandem {

/// A collective's steps sorted by who does what, as the members of its group play them.
struct CollectivePlan {
  struct PlannedSend {
    std::int32_t from = 0, to = 0, step = 0;
    Bytes bytes{};
    bool operator==(const PlannedSend&) const = default;
  };
  std::int64_t members = 0, steps = 0;
  std::vector<PlannedSend> sends;        ///< by member, then step
  std::vector<std::int32_t> first_send;  ///< of member * steps + step; one past the end at the end
  std::vector<std::int32_t> receives;    ///< messages that reach member * steps + step

  bool operator==(const CollectivePlan&) const = default;
  [[nodiscard]] std::size_t slot(std::int64_t member, std::int64_t step) const {
    return static_cast<std::size_t>(member * steps + step);
  }
  /// Pairs (from, to) of members that exchange messages, each once, sorted.
  [[nodiscard]] std::vector<std::pair<std::int32_t, std::int32_t>> pairs() const;
};

/// Throws std::logic_error if a send names no member or carries a negative size.
CollectivePlan plan_collective(const CollectiveSteps& steps, std::int64_t members);

/// Devices that communicate with each other, in rank order.
struct CommunicationGroup {
  std::string name;  ///< "tp group 3"
  std::vector<std::int64_t> devices;
};

/// What a collective takes when all members begin together and its links are theirs alone.
struct CollectiveTime {
  Picoseconds time{};
  Picoseconds software{};  ///< of it, overheads in software
};

/// Plans of the collectives that groups call, made once each.
class CollectivePlans {
 public:
  CollectivePlans(const Cluster& cluster, std::vector<CommunicationGroup> groups)
      : cluster_(cluster), groups_(std::move(groups)) {}

  const CollectivePlan& get(std::int32_t group, const Collective& collective);
  [[nodiscard]] const std::vector<CommunicationGroup>& groups() const { return groups_; }

 private:
  Cluster cluster_;
  std::vector<CommunicationGroup> groups_;
  std::map<std::array<std::int64_t, 4>, CollectivePlan> plans_;  ///< by group, kind, algorithm, bytes
};

}  // namespace tandem
