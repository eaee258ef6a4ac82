// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <systemc>
#include <vector>

#include "sim/chip/global_buffer.h"
#include "sim/chip/path.h"
#include "sim/chip/tracer.h"
#include "sim/kernel/rate.h"

namespace tandem::sim {

class NocClient {
 public:
  virtual ~NocClient() = default;
  /// All bytes of the transfer are there at `done`, now or later. `tag` is the transfer's.
  virtual void noc_answered(std::uint64_t tag, const Path& done) = 0;
};

struct NocTransfer {
  Access access = Access::read;  ///< of the global buffer
  std::size_t port = 0;
  std::array<BufferAccess::Part, 3> parts;
  Path arrival;
  std::uint64_t key = 0;
  std::uint64_t tag = 0;
  NocClient* client = nullptr;
};

/// Joins the global buffer to the cores: one port into and one out of every core. The global buffer arbitrates, by key;
/// a transfer flows through (cut-through) as fast as the slower of buffer and port. It needs no process of its own.
class Noc : public sc_core::sc_module, public BufferClient {
 public:
  struct Spec {
    Rate port_rate;
    Picoseconds latency{};
    std::size_t ports = 0;
  };
  struct Stats {
    Bytes to_cores, from_cores;  ///< through the ports: multicast data count for every receiver
  };

  Noc(sc_core::sc_module_name name, const Spec& spec, GlobalBuffer& buffer, Tracer tracer = {});
  void submit(const NocTransfer& transfer);
  void buffer_answered(BufferAccess& access, const Path& begin, const Path& end) override;

  [[nodiscard]] const Stats& stats() const { return stats_; }
  [[nodiscard]] Server& port(std::size_t port, Access access) { return ports_[port][static_cast<std::size_t>(access)]; }
  /// Reads went on for a while as they did before.
  void skip(Bytes to_cores) { stats_.to_cores += to_cores; }

 private:
  struct Flight {
    BufferAccess access;
    std::size_t port = 0;
    std::uint64_t tag = 0;
    NocClient* client = nullptr;
  };
  Flight& take_flight();

  Spec spec_;
  GlobalBuffer& buffer_;
  Tracer tracer_;
  std::vector<std::array<Server, 2>> ports_;  ///< by Access
  std::deque<Flight> pool_;
  std::vector<Flight*> free_;
  Stats stats_;
};

}  // namespace tandem::sim
