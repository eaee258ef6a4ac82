// SPDX-License-Identifier: Apache-2.0
// A module's own queue of future work behind one self-event: SystemC keeps a single notification per event and drops
// later ones, so only the head of the queue is ever notified.
#pragma once

#include <limits>
#include <queue>
#include <systemc>
#include <utility>
#include <vector>

#include "arch/support/quantity.h"

namespace tandem {

inline Picoseconds simulated_now() { return Picoseconds(static_cast<std::int64_t>(sc_core::sc_time_stamp().value())); }

inline sc_core::sc_time to_sc_time(Picoseconds time) {
  return sc_core::sc_time::from_value(static_cast<sc_core::sc_time::value_type>(time.count()));
}

/// Items become due at their time, ties in the order of `Item`'s operator<. Work is always queued for a later time
/// than now, so all items of one instant are known when it comes and their order does not depend on the kernel's.
template <typename Item>
class TimedQueue {
 public:
  /// Queues `item` for `at`, or for the next picosecond if that has come. Returns the time it is due.
  Picoseconds push(Picoseconds at, Item item) {
    const Picoseconds due = std::max(at, simulated_now() + Picoseconds(1));
    heap_.push(Entry{due, std::move(item)});
    if (due < notified_) notify(due);
    return due;
  }

  /// Calls `serve` for every item that is due, then waits for the next one. To be called by the owner's process.
  template <typename Serve>
  void serve_due(Serve&& serve) {
    notified_ = kNever;
    const Picoseconds now = simulated_now();
    while (!heap_.empty() && heap_.top().at <= now) {
      const Item item = heap_.top().item;
      heap_.pop();
      serve(item);
    }
    if (!heap_.empty() && heap_.top().at < notified_) notify(heap_.top().at);
  }

  [[nodiscard]] const sc_core::sc_event& event() const { return event_; }
  [[nodiscard]] bool empty() const { return heap_.empty(); }

 private:
  struct Entry {
    Picoseconds at{};
    Item item;
    bool operator<(const Entry& other) const {  // std::priority_queue serves the largest
      return at != other.at ? at > other.at : other.item < item;
    }
  };
  static constexpr Picoseconds kNever{std::numeric_limits<std::int64_t>::max()};

  void notify(Picoseconds at) {
    notified_ = at;
    event_.notify(to_sc_time(at - simulated_now()));
  }

  std::priority_queue<Entry> heap_;
  sc_core::sc_event event_;
  Picoseconds notified_ = kNever;  ///< what the event waits for
};

}  // namespace tandem
