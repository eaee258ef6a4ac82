// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>
#include <tuple>
#include <utility>
#include <vector>

#include "arch/support/quantity.h"

namespace tandem::sim {

inline Picoseconds now() { return Picoseconds(static_cast<std::int64_t>(sc_core::sc_time_stamp().value())); }

inline sc_core::sc_time to_sc_time(Picoseconds time) {
  return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(time.count()));
}

/// What a module still has to do, by time: a heap behind one event that is notified for the head alone (an event holds
/// one notification, and SystemC's own payload queue walks a list). An item pushed for the present is due in the next
/// delta cycle, and items of one instant and delta come out by `key`: so the result does not depend on the order in
/// which the kernel runs the processes of one delta.
template <typename T>
class TimedQueue {
 public:
  /// The module's process is made sensitive to this event.
  [[nodiscard]] const sc_core::sc_event& event() const { return event_; }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }

  void push(Picoseconds at, std::uint64_t key, T item) {
    const std::uint64_t delta = at <= now() ? sc_core::sc_delta_count() + 1 : 0;
    heap_.push_back({at, delta, key, std::move(item)});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
    const Item& head = heap_.front();
    if (head.at == at && head.delta == delta && head.key == key) notify();
  }

  /// True while an item is due; otherwise arranges for the process to run when the next one is.
  [[nodiscard]] bool due() {
    if (heap_.empty()) return false;
    if (heap_.front().at <= now() && heap_.front().delta <= sc_core::sc_delta_count()) return true;
    notify();
    return false;
  }

  T pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    T item = std::move(heap_.back().item);
    heap_.pop_back();
    return item;
  }

 private:
  struct Item {
    Picoseconds at;
    std::uint64_t delta;  ///< first delta cycle in which it is due; 0: any
    std::uint64_t key;
    T item;
  };
  struct Later {
    bool operator()(const Item& a, const Item& b) const {
      return std::tie(a.at, a.delta, a.key) > std::tie(b.at, b.delta, b.key);
    }
  };

  void notify() {
    const Picoseconds present = now();
    const Picoseconds at = heap_.front().at;
    if (at <= present) {
      notified_ = present;  // a delta notification takes the place of a timed one
      event_.notify(sc_core::SC_ZERO_TIME);
    } else if (notified_ <= present || at < notified_) {
      notified_ = at;
      event_.notify(to_sc_time(at - present));
    }
  }

  std::vector<Item> heap_;
  Picoseconds notified_{};  ///< a time to come: the process will run then
  sc_core::sc_event event_;
};

}  // namespace tandem::sim
