// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_queued_channel.h"

#include "sim/kernel/timed_queue.h"

namespace tandem::sim {

HbmQueuedChannel::HbmQueuedChannel(sc_core::sc_module_name name, const HbmTimes& times, HbmClient& client)
    : sc_module(name), scheduler_(times), client_(client) {
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

void HbmQueuedChannel::submit(HbmPiece piece) {
  piece.arrival = now();
  scheduler_.advance(piece.arrival);
  scheduler_.push(piece);
  settle();
}

void HbmQueuedChannel::process() {
  ++activations_;
  scheduler_.advance(now());
  settle();
}

void HbmQueuedChannel::settle() {
  auto& answers = scheduler_.answers();
  if (!answers.empty()) {
    client_.hbm_answered(answers);
    answers.clear();
  }
  const Picoseconds next = scheduler_.next();
  // An event keeps the earliest notification: one that has become too early costs a look, nothing else.
  if (next != HbmScheduler::kNever) wake_.notify(to_sc_time(std::max(next - now(), Picoseconds(1))));
}

}  // namespace tandem::sim
