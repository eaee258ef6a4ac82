// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "arch/support/quantity.h"
#include "workloads/answer.h"

namespace tandem::sim {

/// Time by the causes that arise on a chip: TimeByCause less what only a cluster knows, because paths are copied with
/// every tile.
struct ChipCauses {
  static constexpr std::size_t kCount = static_cast<std::size_t>(Cause::dependency) + 1;
  std::array<Picoseconds, kCount> part{};

  Picoseconds& operator[](Cause cause) { return part[static_cast<std::size_t>(cause)]; }
  Picoseconds operator[](Cause cause) const { return part[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] TimeByCause all() const {
    TimeByCause result;
    std::copy(part.begin(), part.end(), result.part.begin());
    return result;
  }
};

/// A moment, and why it is no earlier: the time since its operator's start, by cause, along the chain of what each step
/// waited for last. Invariant: `at` minus the operator's start is the sum of `causes`.
struct Path {
  Picoseconds at{};
  std::int32_t op = -1;  ///< position in the schedule
  ChipCauses causes;

  void add(Cause cause, Picoseconds time) {
    at += time;
    causes[cause] += time;
  }
  /// Moves up to `time` from one cause to another; returns how much.
  Picoseconds relabel(Cause from, Cause to, Picoseconds time) {
    const Picoseconds moved = std::min(time, causes[from]);
    causes[from] -= moved;
    causes[to] += moved;
    return moved;
  }
};

/// The later of two moments; of equal ones the same whatever their order.
inline const Path& later(const Path& a, const Path& b) {
  if (a.at != b.at) return a.at > b.at ? a : b;
  return a.causes.part >= b.causes.part ? a : b;
}

/// A common shift of many paths.
struct PathShift {
  Picoseconds at{};
  ChipCauses causes;
  void move(Path& path) const {
    path.at += at;
    for (std::size_t i = 0; i < ChipCauses::kCount; ++i) path.causes.part[i] += causes.part[i];
  }
};

/// Paths relative to one of them, and other numbers, one behind the other: equal if all differ by a common shift alone.
struct PathRecord {
  const Path& base;
  std::vector<std::int64_t>& into;
  void number(std::int64_t value) { into.push_back(value); }
  void path(const Path& path) {
    into.push_back(path.op);
    into.push_back((path.at - base.at).count());
    for (std::size_t i = 0; i < ChipCauses::kCount; ++i) {
      into.push_back((path.causes.part[i] - base.causes.part[i]).count());
    }
  }
};

/// Something that serves one request at a time in the order of the calls.
class Server {
 public:
  [[nodiscard]] Picoseconds free_at() const { return last_.at; }
  [[nodiscard]] std::int32_t op() const { return last_.op; }
  [[nodiscard]] bool used() const { return last_.op >= 0; }
  /// When a request can be taken up. The time behind a request of the same operator is explained by that request's own
  /// past, behind another operator's it is a dependency.
  [[nodiscard]] Path begin(const Path& arrival) const {
    if (last_.at <= arrival.at) return arrival;
    if (last_.op == arrival.op) return last_;
    Path path = arrival;
    path.add(Cause::dependency, last_.at - arrival.at);
    return path;
  }
  void end(const Path& done) { last_ = done; }
  [[nodiscard]] const Path& last() const { return last_; }
  void shift(const PathShift& by) { by.move(last_); }

 private:
  Path last_;
};

}  // namespace tandem::sim
