// SPDX-License-Identifier: Apache-2.0
// Collectives in a form that steps are written from and times computed from; used by those two alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/collectives.h"

namespace tandem {

/// A part of the buffer.
struct Extent {
  std::int64_t offset = 0, length = 0;
};

/// Members in the order of the ring, and the part that each owns when the data is scattered.
struct Ring {
  std::vector<std::int32_t> order;
  std::vector<Extent> parts;
};

/// Consecutive steps of one kind: either rings of equal size turning side by side, or one step of `sends`.
struct CollectivePhase {
  std::vector<Ring> rings;
  bool reduces = false;  ///< the rings reduce and scatter (n - 1 steps), then ...
  bool gathers = false;  ///< ... gather (n - 1 steps)
  std::vector<Send> sends;
};

/// The sends of step `step` of a ring.
std::vector<Send> ring_sends(const CollectivePhase& phase, const Ring& ring, std::int64_t step);
/// Steps of a phase.
std::int64_t step_count(const CollectivePhase& phase);

/// `collective.algorithm` must not be automatic.
std::vector<CollectivePhase> collective_phases(const Collective& collective, const Cluster& cluster,
                                               std::span<const std::int64_t> ranks);

/// Pieces in which a message follows itself down a tree or chain of `depth` hops: the least time of
/// (pieces + depth - 1) (latency + bytes / pieces / bandwidth), at most 64.
std::int64_t pipeline_pieces(Bytes bytes, std::int64_t depth, Seconds latency, Bandwidth bandwidth);

/// Messages that a transfer across `level` is cut into, so that it reaches all links.
std::int64_t channels(const Level& level, CollectiveKind kind, Bytes bytes);

}  // namespace tandem
