// SPDX-License-Identifier: Apache-2.0
// Times of a plan's communication on a cluster, each computed once.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "arch/cluster.h"
#include "workloads/answer.h"
#include "workloads/collectives.h"
#include "workloads/plan.h"

namespace tandem {

/// What has been computed so far, by the plan's degrees. Communication does not depend on the chip: clusters that
/// differ in their chip only may share one.
class CommunicationMemo {
 public:
  struct Times {
    using Key = std::tuple<Axis, CollectiveKind, std::int64_t, CollectiveAlgorithm, std::vector<std::int64_t>>;
    std::map<Key, Picoseconds> collectives, software;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Picoseconds> sends;
  };
  [[nodiscard]] std::shared_ptr<Times> of(const Plan& plan);

 private:
  std::map<std::array<std::int64_t, 5>, std::shared_ptr<Times>> by_degrees_;
};

/// All groups of a pipeline stage communicate at once, as replicas in lock-step do, and share links where they meet.
class Communication {
 public:
  /// With a memo, which must be of clusters with the same network.
  Communication(const Cluster& cluster, const Plan& plan, CommunicationMemo* memo = nullptr)
      : cluster_(cluster),
        plan_(plan),
        known_(memo != nullptr ? memo->of(plan) : std::make_shared<CommunicationMemo::Times>()) {}

  /// A collective along `axis` of the devices of pipeline stage `stage`.
  [[nodiscard]] Picoseconds collective(Axis axis, const Collective& collective, std::int64_t stage);
  /// Of that time what is overhead of the call and its steps: what it would be without, less.
  [[nodiscard]] Picoseconds software(Axis axis, const Collective& collective, std::int64_t stage);
  /// A message from every device of a pipeline stage to its peer in another.
  [[nodiscard]] Picoseconds send(Bytes bytes, std::int64_t from_stage, std::int64_t to_stage);

  /// Groups along `axis` in a stage that may meet the first one's messages, the first one first.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> groups_at_once(Axis axis, std::int64_t stage) const;

 private:
  /// The first group of a stage moved to the first place on the cluster that looks the same: whole members of the level
  /// that it spans are alike (of a ring or torus, whole grids).
  [[nodiscard]] std::vector<std::int64_t> shifted_group(Axis axis, std::int64_t stage) const;

  const Cluster& cluster_;
  const Plan& plan_;
  std::shared_ptr<CommunicationMemo::Times> known_;
};

}  // namespace tandem
