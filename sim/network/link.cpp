// SPDX-License-Identifier: Apache-2.0
#include "sim/network/link.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

bool limits_messages(const LinkSpec& spec) {
  return spec.message_bandwidth.value() > 0 && spec.message_bandwidth < spec.bandwidth;
}

std::size_t lanes_of(const LinkSpec& spec) {
  if (!limits_messages(spec)) return 1;
  return static_cast<std::size_t>(std::floor(spec.bandwidth / spec.message_bandwidth + 1e-9));
}

}  // namespace

Link::Link(sc_core::sc_module_name name, const LinkSpec& spec, ChunkForwarder& forwarder)
    : sc_module(name),
      lane_rate_(limits_messages(spec) ? spec.message_bandwidth : spec.bandwidth),
      latency_(to_picoseconds(spec.latency)),
      forwarder_(forwarder),
      lane_free_(std::greater<>(), std::vector<Picoseconds>(lanes_of(spec))) {
  SC_HAS_PROCESS(Link);
  SC_METHOD(serve);
  sensitive << queue_.event();
  dont_initialize();
}

void Link::accept(const Chunk& chunk, Picoseconds head, Picoseconds tail) {
  // A link faster than the one before starts late enough not to run dry.
  const Picoseconds time = chunk.message->chunk_time(chunk.index, lane_rate_);
  queue_.push(std::max(head, tail - time), chunk);
}

void Link::account(Bytes bytes, std::int64_t times) {
  stats_.bytes += bytes * times;
  stats_.busy += to_picoseconds(bytes / lane_rate_) * times;
}

void Link::serve() {
  queue_.serve_due([this](const Chunk& chunk) { serve_chunk(chunk); });
}

void Link::serve_chunk(const Chunk& chunk) {
  Message& message = *chunk.message;
  Picoseconds& before = message.hop_free[static_cast<std::size_t>(chunk.hop)];
  const Picoseconds start = std::max({simulated_now(), lane_free_.top(), before});
  const Picoseconds time = message.chunk_time(chunk.index, lane_rate_);
  before = start + time;
  lane_free_.pop();
  lane_free_.push(before);
  stats_.bytes += Bytes(message.offset(chunk.index + 1) - message.offset(chunk.index));
  stats_.busy += time;
  ++stats_.chunks;
  stats_.first_start = std::min(stats_.first_start, start);
  forwarder_.served(chunk, start, start + time);
}

}  // namespace tandem
