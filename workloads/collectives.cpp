// SPDX-License-Identifier: Apache-2.0
#include "workloads/collectives.h"

#include "workloads/collective_phases.h"

namespace tandem {
namespace {

/// The message cut into `parts` that follow each other in the buffer.
std::vector<Send> cut(const Send& whole, std::int64_t parts) {
  const auto at = [&](std::int64_t i) {
    return Bytes(static_cast<std::int64_t>(static_cast<Int128>(whole.bytes.value()) * i / parts));
  };
  std::vector<Send> pieces(static_cast<std::size_t>(parts), whole);
  for (std::int64_t i = 0; i < parts; ++i) {
    Send& piece = pieces[static_cast<std::size_t>(i)];
    piece.offset = whole.offset + at(i);
    piece.bytes = at(i + 1) - at(i);
  }
  return pieces;
}

}  // namespace

CollectiveSteps collective_steps(const Collective& collective, const Cluster& cluster,
                                 std::span<const std::int64_t> ranks) {
  Collective chosen = collective;
  if (chosen.algorithm == CollectiveAlgorithm::automatic) chosen.algorithm = choose_algorithm(chosen, cluster, ranks);
  CollectiveSteps steps;
  const auto add_step = [&](const std::vector<Send>& sends) {
    for (const Send& send : sends) {
      const std::int64_t from = ranks[static_cast<std::size_t>(send.from)];
      const std::int64_t to = ranks[static_cast<std::size_t>(send.to)];
      const Level& level = cluster.levels[cluster.meeting_level(from, to)];
      for (const Send& piece : cut(send, channels(level, chosen.kind, send.bytes))) steps.back().push_back(piece);
    }
  };
  for (const CollectivePhase& phase : collective_phases(chosen, cluster, ranks)) {
    for (std::int64_t i = 0; i < step_count(phase); ++i) {
      steps.emplace_back();
      if (phase.rings.empty()) add_step(phase.sends);
      for (const Ring& ring : phase.rings) add_step(ring_sends(phase, ring, i));
    }
  }
  return steps;
}

Bytes bytes_sent_per_rank(const Collective& collective, std::int64_t ranks) {
  if (ranks <= 1) return Bytes(0);
  const auto share = static_cast<Int128>(collective.bytes.value()) * (ranks - 1);
  const auto once = static_cast<std::int64_t>((share + ranks - 1) / ranks);
  switch (collective.kind) {
    case CollectiveKind::all_reduce: return Bytes(static_cast<std::int64_t>((2 * share + ranks - 1) / ranks));
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::all_to_all: return Bytes(once);
    case CollectiveKind::broadcast:
    case CollectiveKind::send_recv: break;
  }
  return collective.bytes;
}

}  // namespace tandem
