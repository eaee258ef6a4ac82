// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "arch/cluster.h"
#include "tests/unit/sim_cluster/cases.h"

namespace tandem::testing {

struct RandomCase {
  Cluster cluster;
  Case work;
  std::string text;  ///< for messages
};

/// Up to 16 devices on one or two levels of any kind, any schedule, tensor, pipeline and gradient traffic.
RandomCase random_case(std::uint64_t seed);

/// One pipeline round a ring: every message has its links for itself.
RandomCase uncontended_case(std::uint64_t seed);

}  // namespace tandem::testing
