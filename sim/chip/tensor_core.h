// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "sim/chip/core_buffer.h"
#include "sim/chip/noc.h"
#include "sim/chip/path.h"
#include "sim/chip/tile.h"
#include "sim/chip/tile_folder.h"
#include "sim/chip/tracer.h"
#include "sim/kernel/ring.h"

namespace tandem::sim {

/// Pulls tiles from an operator, loads their operands over its NoC port as far as the local buffer has room, and
/// computes them in order. Results leave by way of the operator.
class TensorCore : public sc_core::sc_module, public NocClient {
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
    std::int64_t index = 0;             ///< this core's number among the operator's
    Bytes room{};                       ///< of the local buffer for operands of tiles
    std::int64_t depth = kMostTiles;    ///< tiles whose operands may stand in it
    std::int64_t accumulator_sets = 1;  ///< results that may stand in it
  };

  TensorCore(sc_core::sc_module_name name, const Spec& spec, Noc& noc, Tracer tracer = {});
  void assign(const Assignment& assignment);
  /// There may be work again.
  void wake();
  /// The result of the oldest task has left, or leaves by then.
  void result_left(const Path& at);
  void noc_answered(std::uint64_t tag, const Path& done) override;

  /// Tells it of loops from now on.
  void set_folder(TileFolder* folder) { folder_ = folder; }
  [[nodiscard]] Loop loop() const;
  /// Will do nothing by itself.
  [[nodiscard]] bool is_idle() const { return tiles_.empty() && !has_next_; }
  [[nodiscard]] const Path& array_path() const { return array_.last(); }
  /// A hint whether two states may be the same.
  [[nodiscard]] std::uint64_t mark() const;
  void record(PathRecord& record) const;
  /// Moves on as if it had done so many more steps of its loop.
  void skip(const PathShift& shift, std::int64_t steps, std::int64_t tiles, Picoseconds busy);
  void pause() { run_.cancel(); }
  void resume() { schedule(); }

  [[nodiscard]] std::size_t port() const { return spec_.port; }
  [[nodiscard]] const Stats& stats() const { return stats_; }
  [[nodiscard]] const CoreBuffer& buffer() const { return buffer_; }

 private:
  SC_HAS_PROCESS(TensorCore);
  struct Tile {
    TileJob job;
    Path requested;
    Picoseconds stalled{};  ///< how long the request waited for room alone
    Path loaded;
    bool is_loaded = false;
    bool stalled_since_ready = false;  ///< `stalled` counts from when the operands were ready
    Path done;                         ///< once booked
    std::uint64_t done_delta = 0;      ///< first delta cycle in which that is seen; 0: any
  };
  void process();
  [[nodiscard]] bool due() const;
  /// Arranges for the process to run when the oldest tile is computed.
  void schedule();
  void pull();
  void request(const TileJob& job);
  void book();
  void compute(Tile& tile);
  [[nodiscard]] Path start_of(const Tile& tile) const;
  void disturb() const {
    if (folder_ != nullptr) folder_->disturb();
  }
  static void record_job(PathRecord& record, const TileJob& job, std::int64_t step);

  Spec spec_;
  Noc& noc_;
  Tracer tracer_;
  TileFolder* folder_ = nullptr;
  Assignment assignment_;
  CoreBuffer buffer_;
  Server array_;
  /// In the order of the requests: the first `booked_` compute or wait for the array, the others load.
  Ring<Tile> tiles_;
  std::size_t booked_ = 0;
  sc_core::sc_event run_;
  bool has_next_ = false, exhausted_ = false;
  bool waits_ = false;             ///< for the operator to have work
  std::uint64_t woken_delta_ = 0;  ///< of the latest wake()
  TileJob next_;
  std::uint64_t first_tag_ = 0;
  std::int64_t accumulators_ = 0;  ///< sets in use
  std::int64_t tasks_ = 0;
  Ring<Path> results_left_;
  Stats stats_;
};

}  // namespace tandem::sim
