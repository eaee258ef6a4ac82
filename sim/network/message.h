// SPDX-License-Identifier: Apache-2.0
// What travels over links: messages, cut into chunks that share links fairly.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "arch/support/quantity.h"
#include "arch/topology.h"

namespace tandem {

/// Names a message for its receiver, and decides who goes first among messages that reach a link at the same instant.
struct MessageKey {
  std::int64_t flow = 0;      ///< whose message: a collective's group, a pipeline direction
  std::int64_t sequence = 0;  ///< which message of the flow
  std::int64_t from = 0, to = 0;
  auto operator<=>(const MessageKey&) const = default;
};

struct Delivery {
  MessageKey key;
  Bytes bytes{};
  Picoseconds sent{}, arrived{};
};

class MessageReceiver {
 public:
  virtual ~MessageReceiver() = default;
  virtual void delivered(const Delivery& delivery) = 0;
};

/// A message under way. Chunks follow each other in order on every hop.
struct Message {
  MessageKey key;
  Bytes bytes{};
  std::int64_t chunks = 1;
  const std::vector<LinkId>* route = nullptr;
  Bandwidth bottleneck{};  ///< slowest message rate on the route; the source sends no faster
  Picoseconds sent{};
  std::vector<Picoseconds> hop_free;  ///< when the chunk before has left each hop
  MessageReceiver* receiver = nullptr;
  Message* next = nullptr;  ///< of the same flow, held back until this one has left its source

  /// Offset of chunk `index` in the message; index == chunks: its size.
  [[nodiscard]] std::int64_t offset(std::int64_t index) const {
    return static_cast<std::int64_t>(static_cast<Int128>(bytes.value()) * index / chunks);
  }
  /// Time that chunk `index` takes at `rate`; chunks of a message add up to its rounded time without drift.
  [[nodiscard]] Picoseconds chunk_time(std::int64_t index, Bandwidth rate) const {
    return to_picoseconds(Bytes(offset(index + 1)) / rate) - to_picoseconds(Bytes(offset(index)) / rate);
  }
};

struct Chunk {
  Message* message = nullptr;
  std::int32_t index = 0;
  std::int32_t hop = 0;
  bool operator<(const Chunk& other) const {
    if (const auto order = message->key <=> other.message->key; order != 0) return order < 0;
    return index < other.index;
  }
};

}  // namespace tandem
