// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workloads/collective_parts.h"

namespace tandem::collective_parts {
namespace {

/// One dimension of the machine: devices in a line of it are those with the same index / (stride * extent), and it is a
/// ring of links or not.
struct Dimension {
  std::int64_t boundary = 1;  ///< devices up to and including this dimension
  bool ring = false;
};

std::vector<Dimension> dimensions(const Cluster& cluster) {
  std::vector<Dimension> result;
  std::int64_t boundary = 1;
  for (const Level& level : cluster.levels) {
    const bool ring =
        level.kind == LevelKind::ring || level.kind == LevelKind::torus2d || level.kind == LevelKind::torus3d;
    for (const std::int64_t extent : level.dims) {
      boundary = checked_product(boundary, extent);
      if (extent > 1) result.push_back({boundary, ring});
    }
  }
  return result;
}

struct Share {
  Members members;
  Extent extent;
};

/// Groups of members below a boundary, in order.
std::vector<Members> below(const Members& members, std::span<const std::int64_t> ranks, std::int64_t boundary) {
  std::vector<Members> groups;
  std::int64_t last = -1;
  for (const std::int32_t member : members) {
    const std::int64_t group = ranks[static_cast<std::size_t>(member)] / boundary;
    if (groups.empty() || group != last) groups.emplace_back();
    groups.back().push_back(member);
    last = group;
  }
  return groups;
}

bool even(const std::vector<Members>& groups) {
  return std::all_of(groups.begin(), groups.end(),
                     [&](const Members& group) { return group.size() == groups.front().size(); });
}

/// Shares of equal size side by side, each a set of members with their part of the buffer: reduce and scatter below
/// each boundary, then the same positions of all groups across the next, and back.
Phases hierarchical(std::vector<Share> shares, const std::vector<Dimension>& dims, std::size_t depth,
                    std::span<const std::int64_t> ranks, const Passes& passes) {
  for (; depth < dims.size(); ++depth) {
    const auto groups = below(shares.front().members, ranks, dims[depth].boundary);
    if (groups.front().size() > 1) break;
  }
  const bool last = depth >= dims.size() || below(shares.front().members, ranks, dims[depth].boundary).size() == 1;
  const bool two_ways = depth < dims.size() && dims[depth].ring;
  std::vector<Ring> rings;
  std::vector<Share> across;
  for (const Share& share : shares) {
    const auto groups = last ? std::vector<Members>{share.members} : below(share.members, ranks, dims[depth].boundary);
    for (const Members& group : groups) {
      if (two_ways) {
        for (Ring& ring : opposed_rings(group, share.extent)) rings.push_back(std::move(ring));
      } else {
        rings.push_back(ring_of(group, share.extent));
      }
    }
    const std::int64_t positions = size_of_group(groups.front());
    for (std::int64_t position = 0; !last && position < positions; ++position) {
      Share next{{}, part(share.extent, position, positions)};
      for (const Members& group : groups) next.members.push_back(group[static_cast<std::size_t>(position)]);
      across.push_back(std::move(next));
    }
  }
  if (last) return {ring_phase(std::move(rings), passes)};
  Phases phases;
  if (passes.reduces) phases.push_back(ring_phase(rings, {true, false}));
  for (CollectivePhase& phase : hierarchical(std::move(across), dims, depth + 1, ranks, passes)) {
    phases.push_back(std::move(phase));
  }
  if (passes.gathers) phases.push_back(ring_phase(std::move(rings), {false, true}));
  return phases;
}

/// Every boundary cuts the group into equal parts.
bool fills_levels_evenly(const Members& members, std::span<const std::int64_t> ranks,
                         const std::vector<Dimension>& dims) {
  return std::all_of(dims.begin(), dims.end(),
                     [&](const Dimension& dim) { return even(below(members, ranks, dim.boundary)); });
}

}  // namespace

Phases hierarchical_phases(const Members& members, const Extent& whole, const Cluster& cluster,
                           std::span<const std::int64_t> ranks, const Passes& passes) {
  const auto dims = dimensions(cluster);
  if (!fills_levels_evenly(members, ranks, dims)) return {};
  return hierarchical({{members, whole}}, dims, 0, ranks, passes);
}

}  // namespace tandem::collective_parts
