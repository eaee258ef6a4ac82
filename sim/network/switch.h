// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>

#include "sim/network/link.h"

namespace tandem {

/// Joins the links of one level. Non-blocking inside, as the crossbars of NVSwitch and of leaf switches are; an
/// oversubscribed tree has a link of its own for its upper stages. Its latency is part of the two hops through it. What
/// waits, waits in the queue of the outgoing link.
class Switch : public sc_core::sc_module {
 public:
  struct Stats {
    Bytes bytes{};
    std::int64_t chunks = 0;
  };

  explicit Switch(sc_core::sc_module_name name) : sc_module(name) {}

  void forward(const Chunk& chunk, Picoseconds head, Picoseconds tail, Link& out) {
    stats_.bytes += Bytes(chunk.message->offset(chunk.index + 1) - chunk.message->offset(chunk.index));
    ++stats_.chunks;
    out.accept(chunk, head, tail);
  }

  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  Stats stats_;
};

}  // namespace tandem
