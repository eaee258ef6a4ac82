// SPDX-License-Identifier: Apache-2.0
#include "sim/network/network.h"

#include <algorithm>
#include <string>

namespace tandem {

Network::Network(sc_core::sc_module_name name, Wiring& wiring, const NetworkSpec& spec)
    : sc_module(name), wiring_(wiring), spec_(spec) {
  SC_HAS_PROCESS(Network);
  ChunkForwarder& self = *this;
  for (std::size_t i = 0; i < wiring.links().size(); ++i) {
    links_.push_back(std::make_unique<Link>(("link" + std::to_string(i)).c_str(), wiring.links()[i], self));
  }
  for (std::int64_t i = 0; i < wiring.switches(); ++i) {
    switches_.push_back(std::make_unique<Switch>(("switch" + std::to_string(i)).c_str()));
  }
  SC_METHOD(deliver);
  sensitive << arrivals_.event();
  dont_initialize();
}

std::int64_t Network::chunks_of(Bytes bytes) const {
  return std::clamp<std::int64_t>(bytes.value() / spec_.smallest_chunk.value(), 1, spec_.chunks_per_message);
}

void Network::send(const MessageKey& key, Bytes bytes, Picoseconds start, MessageReceiver& receiver, FlowOrder order) {
  Message& message = new_message();
  message.key = key;
  message.bytes = bytes;
  message.chunks = chunks_of(bytes);
  message.route = &wiring_.route(key.from, key.to);
  message.receiver = &receiver;
  message.next = nullptr;
  message.sent = start;
  message.hop_free.assign(message.route->size(), Picoseconds(0));
  ++messages_sent_;
  ++under_way_;
  if (message.route->empty() || spec_.links == LinkModel::ideal) {
    for (const LinkId id : *message.route) link(id).account_bytes(bytes);
    arrivals_.push(start, Arrival{&message});
    return;
  }
  message.bottleneck = link(message.route->front()).lane_rate();
  for (const LinkId id : *message.route) message.bottleneck = std::min(message.bottleneck, link(id).lane_rate());
  if (order == FlowOrder::in_sequence && held_back(message)) return;
  link(message.route->front()).accept(Chunk{&message, 0, 0}, start, start);
}

bool Network::held_back(Message& message) {
  const auto [entry, first] = last_of_flow_.try_emplace({message.key.flow, message.key.from, message.key.to}, &message);
  if (first) return false;
  entry->second->next = &message;
  entry->second = &message;
  return true;
}

void Network::release_next(const Message& message, Picoseconds end) {
  if (message.next != nullptr) {
    const Picoseconds start = std::max(end, message.next->sent);
    link(message.next->route->front()).accept(Chunk{message.next, 0, 0}, start, start);
    return;
  }
  const auto last = last_of_flow_.find({message.key.flow, message.key.from, message.key.to});
  if (last != last_of_flow_.end() && last->second == &message) last_of_flow_.erase(last);
}

void Network::account(std::int64_t from, std::int64_t to, Bytes bytes, std::int64_t times) {
  for (const LinkId id : wiring_.route(from, to)) {
    if (spec_.links == LinkModel::ideal) {
      link(id).account_bytes(bytes * times);
    } else {
      link(id).account(bytes, times);
    }
  }
}

void Network::served(const Chunk& chunk, Picoseconds start, Picoseconds end) {
  const Message& message = *chunk.message;
  const auto hop = static_cast<std::size_t>(chunk.hop);
  const Picoseconds latency = link((*message.route)[hop]).latency();
  if (hop == 0) {
    if (chunk.index + 1 < message.chunks) {
      send_next_chunk(chunk, start, end);
    } else {
      release_next(message, end);
    }
  }
  if (hop + 1 < message.route->size()) {
    pass_on(chunk, start + latency, end + latency);
  } else if (chunk.index + 1 == message.chunks) {
    arrivals_.push(end + latency, Arrival{chunk.message});
  }
}

void Network::send_next_chunk(const Chunk& chunk, Picoseconds start, Picoseconds end) {
  Message& message = *chunk.message;
  const Picoseconds ready = std::max(end, start + message.chunk_time(chunk.index, message.bottleneck));
  link(message.route->front()).accept(Chunk{&message, chunk.index + 1, 0}, ready, ready);
}

void Network::pass_on(const Chunk& chunk, Picoseconds head, Picoseconds tail) {
  const Route& route = *chunk.message->route;
  const auto hop = static_cast<std::size_t>(chunk.hop);
  Chunk next = chunk;
  ++next.hop;
  Link& out = link(route[hop + 1]);
  const std::int32_t through = wiring_.switch_after(route[hop]);
  if (through < 0) {
    out.accept(next, head, tail);
  } else {
    switches_[static_cast<std::size_t>(through)]->forward(next, head, tail, out);
  }
}

void Network::deliver() {
  arrivals_.serve_due([this](const Arrival& arrival) {
    const Message& message = *arrival.message;
    const Delivery delivery{message.key, message.bytes, message.sent, simulated_now()};
    MessageReceiver& receiver = *message.receiver;
    unused_.push_back(arrival.message);
    --under_way_;
    receiver.delivered(delivery);
  });
}

Message& Network::new_message() {
  if (unused_.empty()) {
    pool_.push_back(std::make_unique<Message>());
    return *pool_.back();
  }
  Message& message = *unused_.back();
  unused_.pop_back();
  return message;
}

}  // namespace tandem
