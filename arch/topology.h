// SPDX-License-Identifier: Apache-2.0
// A cluster's levels unrolled into links and switches, with shortest-path routing in closed form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/cluster.h"

namespace tandem {

using LinkId = std::int32_t;

/// One directed channel: all parallel links of a member in one direction (payload rate).
struct LinkSpec {
  std::string name;  ///< e.g. "node3.up"
  std::int32_t level = 0;
  Bandwidth bandwidth{};          ///< of the whole channel
  Bandwidth message_bandwidth{};  ///< of one message alone
  Seconds latency{};
};

/// Directed links of a cluster. Set-up is linear in devices; a route is computed, not stored.
class Topology {
 public:
  explicit Topology(const Cluster& cluster);

  [[nodiscard]] std::int64_t devices() const;
  [[nodiscard]] const std::vector<LinkSpec>& links() const;
  /// Links crossed in order from device `from` to device `to`: empty if equal. Deterministic: dimension order in a
  /// torus, the shorter way round a ring, the positive direction on a tie.
  [[nodiscard]] std::vector<LinkId> route(std::int64_t from, std::int64_t to) const;

 private:
  Cluster cluster_;
  std::vector<LinkSpec> links_;
  std::vector<std::int64_t> level_offset_;  ///< first link of each level
};

}  // namespace tandem
