// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <vector>

#include "sim/chip/global_buffer.h"
#include "sim/chip/memory_port.h"
#include "sim/chip/path.h"
#include "sim/chip/tracer.h"
#include "sim/kernel/rate.h"
#include "sim/kernel/timed_queue.h"

namespace tandem::sim {

class DmaClient {
 public:
  virtual ~DmaClient() = default;
  /// The last byte is in place at `done`, now or later. `tag` is the transfer's.
  virtual void dma_answered(std::uint64_t tag, const Path& done) = 0;
};

/// One 2-D transfer between HBM and the global buffer.
struct DmaTransfer {
  Access access = Access::read;  ///< of HBM
  std::uint64_t address = 0;
  Bytes bytes{};
  Path arrival;  ///< now
  std::uint64_t key = 0;
  std::uint64_t tag = 0;
  DmaClient* client = nullptr;
};

/// Takes up one transfer after another: set-up, then the request to every HBM stack and to the global buffer. The next
/// may be set up as soon as memory has taken the last one in and its bytes have left at the window's rate.
class DmaEngine : public sc_core::sc_module, public MemoryClient, public BufferClient {
 public:
  struct Spec {
    Picoseconds setup{};
    Rate window_rate;  ///< bytes that may be outstanding per round trip to memory (Little's law); infinite: no limit
  };
  struct Stats {
    std::int64_t activations = 0;
    std::int64_t transfers = 0;
    Bytes read, written;
  };

  DmaEngine(sc_core::sc_module_name name, const Spec& spec, std::vector<MemoryPort*> memory, GlobalBuffer& buffer,
            Tracer tracer = {});
  void submit(const DmaTransfer& transfer);
  void memory_answered(MemoryRequest& request, const Path& admitted, const Path& done) override;
  void buffer_answered(BufferAccess& access, const Path& begin, const Path& end) override;

  [[nodiscard]] const Stats& stats() const { return stats_; }
  [[nodiscard]] bool idle() const { return waiting_.empty() && !busy_; }

 private:
  SC_HAS_PROCESS(DmaEngine);
  void process();
  void set_up();
  void send();
  void answered();
  void finish();

  Spec spec_;
  std::vector<MemoryPort*> memory_;
  GlobalBuffer& buffer_;
  Tracer tracer_;

  TimedQueue<DmaTransfer> waiting_;
  sc_core::sc_event set_up_done_;
  Server issue_;
  bool busy_ = false;             ///< a transfer is between set-up and answer
  std::uint64_t free_delta_ = 0;  ///< first delta cycle in which it may take up another
  DmaTransfer current_;
  Path sent_, admitted_, done_;
  std::vector<MemoryRequest> requests_;
  BufferAccess access_;
  std::size_t answers_due_ = 0;
  Stats stats_;
};

}  // namespace tandem::sim
