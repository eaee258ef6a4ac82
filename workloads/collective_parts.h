// SPDX-License-Identifier: Apache-2.0
// What the collective algorithms are put together from; used by them alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "workloads/collective_phases.h"

namespace tandem::collective_parts {

using Members = std::vector<std::int32_t>;
using Phases = std::vector<CollectivePhase>;

/// Part `i` of `n` of an extent; parts differ by at most a byte and make up the whole.
inline Extent part(const Extent& whole, std::int64_t i, std::int64_t n) {
  const auto cut = [&](std::int64_t at) {
    return static_cast<std::int64_t>(static_cast<Int128>(whole.length) * at / n);
  };
  return {whole.offset + cut(i), cut(i + 1) - cut(i)};
}

inline Send send(std::int32_t from, std::int32_t to, const Extent& what, bool reduce) {
  return {from, to, Bytes(what.length), Bytes(what.offset), reduce};
}

inline Ring ring_of(const Members& members, const Extent& whole) {
  Ring ring{members, {}};
  const auto n = static_cast<std::int64_t>(members.size());
  for (std::int64_t i = 0; i < n; ++i) ring.parts.push_back(part(whole, i, n));
  return ring;
}

/// Two rings, each with one half of every part, turning against each other.
inline std::vector<Ring> opposed_rings(const Members& members, const Extent& whole) {
  Ring there{members, {}};
  Ring back{members, {}};
  for (const Extent& own : ring_of(members, whole).parts) {
    there.parts.push_back(part(own, 0, 2));
    back.parts.push_back(part(own, 1, 2));
  }
  std::reverse(back.order.begin(), back.order.end());
  std::reverse(back.parts.begin(), back.parts.end());
  return {there, back};
}

inline std::int64_t size_of_group(const Members& members) { return static_cast<std::int64_t>(members.size()); }

struct Passes {
  bool reduces = false, gathers = false;
};
inline Passes passes_of(CollectiveKind kind) {
  return {kind != CollectiveKind::all_gather, kind != CollectiveKind::reduce_scatter};
}

inline CollectivePhase ring_phase(std::vector<Ring> rings, const Passes& passes) {
  return {std::move(rings), passes.reduces, passes.gathers, {}};
}

inline CollectivePhase step(std::vector<Send> sends) { return {{}, false, false, std::move(sends)}; }

/// Level by level (a torus: dimension by dimension). Empty where the ranks do not fill the levels evenly.
Phases hierarchical_phases(const Members& members, const Extent& whole, const Cluster& cluster,
                           std::span<const std::int64_t> ranks, const Passes& passes);

}  // namespace tandem::collective_parts
