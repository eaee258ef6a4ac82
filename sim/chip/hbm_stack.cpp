// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_stack.h"

namespace tandem::sim {

HbmStack::HbmStack(sc_core::sc_module_name name, Spec spec) : sc_module(name), spec_(std::move(spec)) {
  for (const HbmChannelSpec& channel : spec_.channels) channels_.emplace_back(channel);
  SC_METHOD(process);
  sensitive << arrived_.event();
  dont_initialize();
}

void HbmStack::submit(MemoryRequest& request) { arrived_.push(now(), request.key, &request); }

void HbmStack::process() {
  ++stats_.activations;
  while (arrived_.due()) serve(*arrived_.pop());
}

void HbmStack::serve(MemoryRequest& request) {
  const auto count = static_cast<std::int64_t>(channels_.size());
  const std::int64_t atom = spec_.channels.front().atom.value();
  const std::int64_t atoms = ceil_div(request.bytes.value(), atom);
  const auto first = static_cast<std::int64_t>(request.address / static_cast<std::uint64_t>(atom)) % count;
  Path admitted = request.arrival;
  Path done = request.arrival;
  for (std::int64_t i = 0; i < std::min(count, atoms); ++i) {
    const auto channel = static_cast<std::size_t>((first + i) % count);
    const Bytes piece(atom * (atoms / count + (i < atoms % count ? 1 : 0)));
    const HbmChannel::Service service = channels_[channel].serve(request.access, piece, request.arrival);
    if (service.admitted > admitted.at) {
      admitted = request.arrival;
      admitted.add(Cause::hbm_bandwidth, service.admitted - request.arrival.at);
    }
    done = later(done, service.done);
    if (!spec_.tracers.empty()) {
      const EventKind kind = request.access == Access::read ? EventKind::hbm_read : EventKind::hbm_write;
      spec_.tracers[channel].record(kind, service.begin, service.done.at, request.arrival.op, piece);
    }
  }
  ++stats_.requests;
  stats_.queued += admitted.at - request.arrival.at;
  request.client->memory_answered(request, admitted, done);
}

}  // namespace tandem::sim
