// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <systemc>
#include <vector>

#include "sim/chip/core_buffer.h"
#include "sim/chip/noc.h"
#include "sim/chip/path.h"
#include "sim/chip/tile.h"
#include "sim/chip/tracer.h"
#include "sim/kernel/timed_queue.h"

namespace tandem::sim {

/// Computes tiles of vector operators, which it pulls, and work on the results of tensor cores, which is pushed. Tiles
/// take the lanes in the order in which their operands arrive.
class VectorCore : public sc_core::sc_module, public NocClient {
 public:
  struct Spec {
    std::size_t port = 0;  ///< on the NoC
  };
  struct Stats {
    std::int64_t activations = 0;
    std::int64_t tiles = 0;
    Picoseconds busy{};
  };
  /// How one operator uses the core.
  struct Assignment {
    TileSource* source = nullptr;
    std::int64_t index = 0;           ///< this core's number among the operator's
    Bytes room{};                     ///< of the local buffer for operands of tiles
    std::int64_t depth = kMostTiles;  ///< tiles whose operands may stand in it
  };

  VectorCore(sc_core::sc_module_name name, const Spec& spec, Noc& noc, Tracer tracer = {});
  void assign(const Assignment& assignment);
  void wake();
  /// Work whose first operand a tensor core holds; `index` is handed back to `source`. job.ready is now.
  void push(TileSource& source, std::int64_t index, const TileJob& job);
  void noc_answered(std::uint64_t tag, const Path& done) override;

  [[nodiscard]] std::size_t port() const { return spec_.port; }
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  SC_HAS_PROCESS(VectorCore);
  struct Work {
    TileJob job;
    TileSource* source = nullptr;
    std::int64_t index = 0;
    bool pulled = false;
    bool is_computed = false;
    Path requested, path;
    Picoseconds stalled{};
  };
  void process();
  void pull();
  [[nodiscard]] std::size_t take_slot(const TileJob& job);
  void load(std::size_t slot);
  void compute(std::size_t slot);
  void finish(std::size_t slot);

  Spec spec_;
  Noc& noc_;
  Tracer tracer_;
  Assignment assignment_;
  CoreBuffer buffer_;
  Server lanes_;
  std::deque<Work> slots_;
  std::vector<std::size_t> free_;
  TimedQueue<std::size_t> due_;  ///< slots whose operands arrive, or whose result is there
  sc_core::sc_event wake_;
  bool has_next_ = false, exhausted_ = false;
  bool waits_ = false;             ///< for the operator to have work
  std::uint64_t woken_delta_ = 0;  ///< of the latest wake()
  TileJob next_;
  Stats stats_;
};

}  // namespace tandem::sim
