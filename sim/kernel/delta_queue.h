// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>
#include <utility>
#include <vector>

namespace tandem::sim {

/// What arrived in one delta cycle, handed out in the next by key: so the result does not depend on the order in which
/// the kernel runs the processes of one delta. A TimedQueue for things that are only ever due at once.
template <typename T>
class DeltaQueue {
 public:
  /// The module's process is made sensitive to this event.
  [[nodiscard]] const sc_core::sc_event& event() const { return event_; }
  [[nodiscard]] bool empty() const { return arrived_.empty(); }

  void push(std::uint64_t key, T item) {
    const std::uint64_t delta = sc_core::sc_delta_count();
    if (arrived_.empty() || delta != last_delta_) event_.notify(sc_core::SC_ZERO_TIME);
    if (delta != last_delta_) first_of_last_ = arrived_.size();
    last_delta_ = delta;
    arrived_.push_back({key, std::move(item)});
  }

  /// Calls `serve` with every item of earlier deltas.
  template <typename Serve>
  void take(Serve serve) {
    const bool some_are_new = last_delta_ == sc_core::sc_delta_count();
    const std::size_t due = some_are_new ? first_of_last_ : arrived_.size();
    if (some_are_new)
      event_.notify(sc_core::SC_ZERO_TIME);  // pushed before the simulation began, it may have run early
    if (due == 0) return;
    taken_.assign(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(due));
    arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(due));
    first_of_last_ = 0;
    std::sort(taken_.begin(), taken_.end(), [](const Item& a, const Item& b) { return a.first < b.first; });
    for (Item& item : taken_) serve(item.second);
  }

 private:
  using Item = std::pair<std::uint64_t, T>;
  std::vector<Item> arrived_, taken_;
  std::uint64_t last_delta_ = 0;   ///< of the latest push
  std::size_t first_of_last_ = 0;  ///< pushes of that delta begin here
  sc_core::sc_event event_;
};

}  // namespace tandem::sim
