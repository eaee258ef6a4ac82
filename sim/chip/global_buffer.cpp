// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/global_buffer.h"

#include <algorithm>

namespace tandem::sim {

GlobalBuffer::GlobalBuffer(sc_core::sc_module_name name, const Spec& spec) : sc_module(name), spec_(spec) {
  SC_METHOD(process);
  sensitive << arrived_.event();
  dont_initialize();
}

void GlobalBuffer::submit(BufferAccess& access) { arrived_.push(access.key, &access); }

void GlobalBuffer::acquire(Bytes bytes) {
  used_ += bytes;
  stats_.peak = std::max(stats_.peak, used_);
}

void GlobalBuffer::skip(const PathShift& shift, Bytes read, Picoseconds read_busy) {
  ports_[static_cast<std::size_t>(Access::read)].shift(shift);
  stats_.read += read;
  stats_.read_busy += read_busy;
}

void GlobalBuffer::process() {
  ++stats_.activations;
  arrived_.take([this](BufferAccess* access) { serve(*access); });
}

Picoseconds GlobalBuffer::bank_time(std::size_t part, Bytes bytes) {
  Timed& timed = timed_[part];
  if (timed.bytes != bytes) {
    timed = {bytes, spec_.rate.time(spec_.row * ceil_div(bytes.value(), spec_.row.value()))};
  }
  return timed.time;
}

void GlobalBuffer::serve(BufferAccess& access) {
  Server& port = ports_[static_cast<std::size_t>(access.access)];
  Path begin;  // of the first part: data flow on from there
  Path end = access.arrival;
  const auto starts = [&begin](const Path& at) {
    if (begin.op < 0) begin = at;
  };
  for (std::size_t i = 0; i < access.parts.size(); ++i) {
    const BufferAccess::Part& part = access.parts[i];
    if (part.bytes.value() == 0) continue;
    if (part.shared != nullptr && part.shared->served) {
      starts(later(access.arrival, part.shared->begin));
      end = later(end, part.shared->end);
      continue;
    }
    const Path taken = port.begin(access.arrival);
    Path done = taken;
    done.add(Cause::noc, bank_time(i, part.bytes));
    port.end(done);
    starts(taken);
    end = later(end, done);
    if (part.shared != nullptr) *part.shared = {true, taken, done};
    (access.access == Access::read ? stats_.read : stats_.written) += part.bytes;
    (access.access == Access::read ? stats_.read_busy : stats_.write_busy) += done.at - taken.at;
  }
  end.add(Cause::noc, spec_.latency);
  access.client->buffer_answered(access, begin, end);
}

}  // namespace tandem::sim
