// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <systemc>
#include <vector>

#include "arch/topology.h"
#include "sim/network/message.h"
#include "sim/network/timed_queue.h"

namespace tandem {

/// Hears of every chunk when its service on a link is fixed.
class ChunkForwarder {
 public:
  virtual ~ChunkForwarder() = default;
  /// The link sends the chunk's first byte at `start` and its last at `end`.
  virtual void served(const Chunk& chunk, Picoseconds start, Picoseconds end) = 0;
};

/// A directed channel of parallel lanes, as many as messages can use side by side at their full rate
/// (bandwidth / message_bandwidth). Chunks are served first come, first served, each by the lane that is free first;
/// at equal times the message key decides. A chunk is forwarded before its tail has arrived (virtual cut-through,
/// Kermani and Kleinrock, Computer Networks 3(4), 1979), so a route adds latencies but not transmission times.
class Link : public sc_core::sc_module {
 public:
  struct Stats {
    Bytes bytes{};
    Picoseconds busy{};  ///< of all lanes together
    std::int64_t chunks = 0;
    Picoseconds first_start = Picoseconds::max();  ///< of a chunk
  };

  Link(sc_core::sc_module_name name, const LinkSpec& spec, ChunkForwarder& forwarder);

  /// A chunk whose first byte is here at `head` and whose last is at `tail`.
  void accept(const Chunk& chunk, Picoseconds head, Picoseconds tail);
  /// Counts `times` messages that moved over this link without their chunks being played one by one.
  void account(Bytes bytes, std::int64_t times);
  void account_bytes(Bytes bytes) { stats_.bytes += bytes; }  ///< over an ideal link, in no time

  [[nodiscard]] std::int64_t lanes() const { return static_cast<std::int64_t>(lane_free_.size()); }
  [[nodiscard]] Bandwidth lane_rate() const { return lane_rate_; }
  [[nodiscard]] Picoseconds latency() const { return latency_; }
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  void serve();
  void serve_chunk(const Chunk& chunk);

  Bandwidth lane_rate_;
  Picoseconds latency_;
  ChunkForwarder& forwarder_;
  std::priority_queue<Picoseconds, std::vector<Picoseconds>, std::greater<>> lane_free_;  ///< by lane, soonest first
  TimedQueue<Chunk> queue_;
  Stats stats_;
};

}  // namespace tandem
