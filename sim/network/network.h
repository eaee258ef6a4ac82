// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <systemc>
#include <vector>

#include "sim/network/link.h"
#include "sim/network/message.h"
#include "sim/network/switch.h"
#include "sim/network/timed_queue.h"
#include "sim/network/wiring.h"

namespace tandem {

enum class LinkModel { real, ideal };  ///< ideal: no latency, infinite bandwidth

/// Messages of one flow between one pair of devices: side by side, or each after the one before has left its source (as
/// a communication stream sends them).
enum class FlowOrder { side_by_side, in_sequence };

struct NetworkSpec {
  LinkModel links = LinkModel::real;
  std::int64_t chunks_per_message = 16;  ///< at most
  Bytes smallest_chunk{64 * 1024};
};

/// Links and switches of a cluster, and the messages on them. A source sends chunk after chunk, no faster than the
/// narrowest link of the route lets one message go, so that flows that meet share a link evenly.
class Network : public sc_core::sc_module, private ChunkForwarder {
 public:
  Network(sc_core::sc_module_name name, Wiring& wiring, const NetworkSpec& spec);

  /// The first byte leaves `key.from` at `start` or later; `receiver` hears when the last has reached `key.to`. Keys of
  /// messages under way are distinct. Deliveries of one instant are told in the order of their keys.
  void send(const MessageKey& key, Bytes bytes, Picoseconds start, MessageReceiver& receiver,
            FlowOrder order = FlowOrder::side_by_side);
  /// Counts `times` messages that were not played chunk by chunk.
  void account(std::int64_t from, std::int64_t to, Bytes bytes, std::int64_t times);

  [[nodiscard]] const std::vector<std::unique_ptr<Link>>& links() const { return links_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Switch>>& switches() const { return switches_; }
  [[nodiscard]] std::int64_t messages() const { return messages_sent_; }
  [[nodiscard]] std::int64_t messages_under_way() const { return under_way_; }
  /// Chunks that a message is cut into.
  [[nodiscard]] std::int64_t chunks_of(Bytes bytes) const;

 private:
  struct Arrival {
    Message* message = nullptr;
    bool operator<(const Arrival& other) const { return message->key < other.message->key; }
  };
  void served(const Chunk& chunk, Picoseconds start, Picoseconds end) override;
  /// True if the message must wait for an earlier one of its flow.
  bool held_back(Message& message);
  void release_next(const Message& message, Picoseconds end);
  void send_next_chunk(const Chunk& chunk, Picoseconds start, Picoseconds end);
  void pass_on(const Chunk& chunk, Picoseconds head, Picoseconds tail);
  void deliver();
  Message& new_message();
  Link& link(LinkId id) { return *links_[static_cast<std::size_t>(id)]; }

  Wiring& wiring_;
  NetworkSpec spec_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<Switch>> switches_;
  TimedQueue<Arrival> arrivals_;
  std::vector<std::unique_ptr<Message>> pool_;
  std::vector<Message*> unused_;
  std::map<std::array<std::int64_t, 3>, Message*> last_of_flow_;  ///< in sequence and still at its source
  std::int64_t messages_sent_ = 0, under_way_ = 0;
};

}  // namespace tandem
