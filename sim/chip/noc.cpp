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
  flight.port = transfer.port;
  flight.tag = transfer.tag;
  flight.client = transfer.client;
  flight.access = {transfer.access, transfer.parts, transfer.arrival, transfer.key, this, &flight};
  buffer_.submit(flight.access);
}

void Noc::buffer_answered(BufferAccess& access, const Path& begin, const Path& end) {
  auto& flight = *static_cast<Flight*>(access.context);
  const Access direction = access.access;
  Bytes bytes{};
  for (const BufferAccess::Part& part : access.parts) bytes += part.bytes;
  Server& port = ports_[flight.port][static_cast<std::size_t>(direction)];
  Path done = port.begin(begin);
  const Picoseconds start = done.at;
  done.add(Cause::noc, spec_.port_rate.time(bytes));
  port.end(done);
  done = later(done, end);
  done.add(Cause::noc, spec_.latency);
  (direction == Access::read ? stats_.to_cores : stats_.from_cores) += bytes;
  tracer_.record(direction == Access::read ? EventKind::noc_read : EventKind::noc_write, start, done.at, done.op,
                 bytes);
  NocClient& client = *flight.client;
  const std::uint64_t tag = flight.tag;
  free_.push_back(&flight);  // the client may submit the next
  client.noc_answered(tag, done);
}

}  // namespace tandem::sim
