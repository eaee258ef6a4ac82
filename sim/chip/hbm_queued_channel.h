// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <systemc>

#include "sim/chip/hbm_scheduler.h"

namespace tandem::sim {

class HbmClient {
 public:
  virtual ~HbmClient() = default;
  /// The answers may name moments to come (an annotated delay).
  virtual void hbm_answered(std::span<const HbmService> answers) = 0;
};

/// One HBM channel with its controller, as a module: runs once for what it decides, not for every command.
class HbmQueuedChannel : public sc_core::sc_module {
 public:
  HbmQueuedChannel(sc_core::sc_module_name name, const HbmTimes& times, HbmClient& client);
  /// A piece that arrives now. May answer at once.
  void submit(HbmPiece piece);

  [[nodiscard]] const HbmScheduler& scheduler() const { return scheduler_; }
  [[nodiscard]] std::int64_t activations() const { return activations_; }

 private:
  SC_HAS_PROCESS(HbmQueuedChannel);
  void process();
  void settle();

  HbmScheduler scheduler_;
  HbmClient& client_;
  sc_core::sc_event wake_;
  std::int64_t activations_ = 0;
};

}  // namespace tandem::sim
