// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/noc.h"

namespace tandem::sim {

Noc::Noc(sc_core::sc_module_name name, const Spec& spec, GlobalBuffer& buffer, Tracer tracer)
    : sc_module(name), spec_(spec), buffer_(buffer), tracer_(tracer), ports_(spec.ports) {}

Noc::Flight& Noc::take_flight() {
  if (free_.empty()) return pool_.emplace_back();
  Flight& flight = *free_.back();
  free_.pop_back();
  return flight;
}

void Noc::submit(const NocTransfer& transfer) {
  Flight& flight = take_flight();
  flight.transfer = transfer;
  flight.access = {transfer.access, transfer.parts, transfer.arrival, transfer.key, this, &flight};
  buffer_.submit(flight.access);
}

void Noc::buffer_answered(BufferAccess& access, const Path& begin, const Path& end) {
  auto& flight = *static_cast<Flight*>(access.context);
  const NocTransfer transfer = flight.transfer;
  free_.push_back(&flight);

  Bytes bytes{};
  for (const BufferAccess::Part& part : transfer.parts) bytes += part.bytes;
  Server& port = ports_[transfer.port][static_cast<std::size_t>(transfer.access)];
  Path done = port.begin(begin);
  const Picoseconds start = done.at;
  done.add(Cause::noc, spec_.port_rate.time(bytes));
  port.end(done);
  done = later(done, end);
  done.add(Cause::noc, spec_.latency);
  (transfer.access == Access::read ? stats_.to_cores : stats_.from_cores) += bytes;
  tracer_.record(transfer.access == Access::read ? EventKind::noc_read : EventKind::noc_write, start, done.at, done.op,
                 bytes);
  transfer.client->noc_answered(transfer.tag, done);
}

}  // namespace tandem::sim
