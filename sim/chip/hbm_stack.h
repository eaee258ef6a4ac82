// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <vector>

#include "sim/chip/hbm_channel.h"
#include "sim/chip/memory_port.h"
#include "sim/chip/tracer.h"
#include "sim/kernel/timed_queue.h"

namespace tandem::sim {

/// One HBM stack: stripes every request over its channels, one piece each, and answers when the last piece is done.
class HbmStack : public sc_core::sc_module, public MemoryPort {
 public:
  struct Spec {
    std::vector<HbmChannelSpec> channels;
    std::vector<Tracer> tracers;  ///< by channel, or empty
  };
  struct Stats {
    std::int64_t activations = 0;
    std::int64_t requests = 0;
    Picoseconds queued{};  ///< sum over requests of the wait for room
  };

  HbmStack(sc_core::sc_module_name name, Spec spec);
  void submit(MemoryRequest& request) override;

  [[nodiscard]] const Stats& stats() const { return stats_; }
  [[nodiscard]] const std::vector<HbmChannel>& channels() const { return channels_; }

 private:
  SC_HAS_PROCESS(HbmStack);
  void process();
  void serve(MemoryRequest& request);

  Spec spec_;
  std::vector<HbmChannel> channels_;
  TimedQueue<MemoryRequest*> arrived_;
  Stats stats_;
};

}  // namespace tandem::sim
