// SPDX-License-Identifier: Apache-2.0
#include "search/communication.h"

#include <algorithm>
#include <set>
#include <utility>

namespace tandem {
namespace {

bool is_grid(LevelKind kind) {
  return kind == LevelKind::ring || kind == LevelKind::torus2d || kind == LevelKind::torus3d;
}

/// Outermost level on which members of the group meet.
std::size_t outermost_level(const Cluster& cluster, const std::vector<std::int64_t>& group) {
  std::size_t outermost = 0;
  for (const std::int64_t rank : group) {
    if (rank != group.front()) outermost = std::max(outermost, cluster.meeting_level(group.front(), rank));
  }
  return outermost;
}

}  // namespace

std::shared_ptr<CommunicationMemo::Times> CommunicationMemo::of(const Plan& plan) {
  auto& times = by_degrees_[{plan.tp, plan.pp, plan.dp, plan.cp, plan.ep}];
  if (!times) times = std::make_shared<Times>();
  return times;
}

std::vector<std::vector<std::int64_t>> Communication::groups_at_once(Axis axis, std::int64_t stage) const {
  const std::vector<std::int64_t> first = group(plan_, axis, {0, 0, 0, stage});
  std::vector<std::vector<std::int64_t>> groups{first};
  if (first.size() <= 1) return groups;
  // Links belong to members of a level, so other groups meet the first only in the same members; in a grid routes pass
  // through strangers, so there any group of the same grid may.
  const std::size_t level = outermost_level(cluster_, first);
  const bool grid = is_grid(cluster_.levels[level].kind);
  const std::int64_t unit = cluster_.devices_below(grid ? level + 1 : level);
  std::set<std::int64_t> places;
  for (const std::int64_t rank : first) places.insert(rank / unit);
  std::set<std::int64_t> taken(first.begin(), first.end());
  for (Coordinates at{0, 0, 0, stage}; at.dp < plan_.dp; ++at.dp) {
    for (at.cp = 0; at.cp < plan_.cp; ++at.cp) {
      for (at.tp = 0; at.tp < plan_.tp; ++at.tp) {
        const std::int64_t device = device_at(plan_, at);
        if (taken.contains(device) || !places.contains(device / unit)) continue;
        auto other = group(plan_, axis, at);
        taken.insert(other.begin(), other.end());
        if (other.size() == first.size()) groups.push_back(std::move(other));
      }
    }
  }
  return groups;
}

std::vector<std::int64_t> Communication::shifted_group(Axis axis, std::int64_t stage) const {
  std::vector<std::int64_t> ranks = group(plan_, axis, {0, 0, 0, stage});
  if (ranks.size() <= 1) return {};
  const std::size_t level = outermost_level(cluster_, ranks);
  const std::int64_t unit = cluster_.devices_below(is_grid(cluster_.levels[level].kind) ? level + 1 : level);
  const std::int64_t shift = ranks.front() / unit * unit;
  for (std::int64_t& rank : ranks) rank -= shift;
  return ranks;
}

Picoseconds Communication::collective(Axis axis, const Collective& collective, std::int64_t stage) {
  const CommunicationMemo::Times::Key key{axis, collective.kind, collective.bytes.value(), collective.algorithm,
                                          shifted_group(axis, stage)};
  const auto known = known_->collectives.find(key);
  if (known != known_->collectives.end()) return known->second;
  const Picoseconds time = to_picoseconds(collective_time(collective, cluster_, groups_at_once(axis, stage)));
  known_->collectives.emplace(key, time);
  return time;
}

Picoseconds Communication::software(Axis axis, const Collective& collective, std::int64_t stage) {
  const CommunicationMemo::Times::Key key{axis, collective.kind, collective.bytes.value(), collective.algorithm,
                                          shifted_group(axis, stage)};
  const auto known = known_->software.find(key);
  if (known != known_->software.end()) return known->second;
  const auto groups = groups_at_once(axis, stage);
  Collective chosen = collective;
  if (groups.front().size() > 1) chosen.algorithm = choose_algorithm(collective, cluster_, groups.front());
  Cluster silent = cluster_;
  silent.overhead = {};
  const Picoseconds whole = this->collective(axis, collective, stage);
  const Picoseconds links = to_picoseconds(collective_time(chosen, silent, groups));
  return known_->software.emplace(key, std::max(Picoseconds(0), whole - links)).first->second;
}

Picoseconds Communication::send(Bytes bytes, std::int64_t from_stage, std::int64_t to_stage) {
  if (bytes.value() == 0 || from_stage == to_stage) return Picoseconds(0);
  const auto key = std::tuple(bytes.value(), from_stage, to_stage);
  const auto known = known_->sends.find(key);
  if (known != known_->sends.end()) return known->second;
  const std::int64_t per_stage = checked_product(plan_.tp, plan_.cp, plan_.dp);
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (std::int64_t i = 0; i < per_stage; ++i) pairs.emplace_back(from_stage * per_stage + i, to_stage * per_stage + i);
  const Picoseconds time = to_picoseconds(send_time(bytes, cluster_, pairs));
  known_->sends.emplace(key, time);
  return time;
}

}  // namespace tandem
