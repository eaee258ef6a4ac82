// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <systemc>

#include "sim/chip/memory_port.h"
#include "sim/chip/path.h"
#include "sim/kernel/delta_queue.h"
#include "sim/kernel/rate.h"
#include "sim/kernel/timed_queue.h"

namespace tandem::sim {

/// One read of the global buffer that several cores take off the NoC together; the first to arrive pays it.
struct SharedRead {
  bool served = false;
  Path begin, end;
};

struct BufferAccess;

class BufferClient {
 public:
  virtual ~BufferClient() = default;
  /// The banks are busy with it from `begin` to `end`, both now or later.
  virtual void buffer_answered(BufferAccess& access, const Path& begin, const Path& end) = 0;
};

struct BufferAccess {
  struct Part {
    Bytes bytes{};
    SharedRead* shared = nullptr;
  };
  Access access = Access::read;
  std::array<Part, 3> parts;
  Path arrival;           ///< now
  std::uint64_t key = 0;  ///< decides between accesses of the same instant
  BufferClient* client = nullptr;
  void* context = nullptr;  ///< the client's own
};

/// The shared scratchpad. Data are spread over all banks word by word, so each direction is one server, and an access
/// takes whole rows of banks. Its room is handed out in credits.
class GlobalBuffer : public sc_core::sc_module {
 public:
  struct Spec {
    Rate rate;     ///< all banks, each direction
    Bytes row{1};  ///< one word of every bank
    Bytes capacity{};
    Picoseconds latency{};
  };
  struct Stats {
    std::int64_t activations = 0;
    Bytes read, written;
    Picoseconds read_busy{}, write_busy{};
    Bytes peak;  ///< highest occupancy
  };

  GlobalBuffer(sc_core::sc_module_name name, const Spec& spec);
  void submit(BufferAccess& access);

  [[nodiscard]] bool has_room(Bytes bytes) const { return used_ + bytes <= spec_.capacity; }
  void acquire(Bytes bytes);
  void release(Bytes bytes) { used_ -= bytes; }

  [[nodiscard]] const Spec& spec() const { return spec_; }
  [[nodiscard]] const Server& port(Access access) const { return ports_[static_cast<std::size_t>(access)]; }
  /// Reads went on for a while as they did before.
  void skip(const PathShift& shift, Bytes read, Picoseconds read_busy);
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  SC_HAS_PROCESS(GlobalBuffer);
  void process();
  void serve(BufferAccess& access);
  [[nodiscard]] Picoseconds bank_time(std::size_t part, Bytes bytes);

  /// Accesses of one kind follow each other with the same size.
  struct Timed {
    Bytes bytes{};
    Picoseconds time{};
  };

  Spec spec_;
  std::array<Timed, 3> timed_{};  ///< by part of an access
  std::array<Server, 2> ports_;   ///< by Access
  DeltaQueue<BufferAccess*> arrived_;
  Bytes used_{};
  Stats stats_;
};

}  // namespace tandem::sim
