// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "arch/area.h"
#include "sim/chip/dma_engine.h"
#include "sim/chip/lowering.h"
#include "sim/chip/noc.h"
#include "sim/chip/tensor_core.h"
#include "sim/chip/vector_core.h"

namespace tandem::sim {

class OperatorRun;

/// Something that becomes true for a running operator at a known time.
struct RunEvent {
  enum class Kind { launched, load_done, reads_done, tile_stored, parts_stored, stores_done, written };
  Kind kind{};
  OperatorRun* run = nullptr;
  std::int64_t block = 0;
  std::int64_t item = 0;  ///< tile_stored, parts_stored: output tile
  Path path;              ///< when, and why then
};

/// Brings an event back to its operator at its time; implemented by the command processor.
class RunMailbox {
 public:
  virtual ~RunMailbox() = default;
  virtual void post(const RunEvent& event) = 0;
};

/// The parts of the chip that one operator uses.
struct RunResources {
  Noc* noc = nullptr;
  std::vector<DmaEngine*> dma;
  std::vector<TensorCore*> tensor_cores;
  std::vector<VectorCore*> vector_cores;
  RunMailbox* mailbox = nullptr;
};

/// One operator in execution: loads blocks into the global buffer as its buffers allow, hands tiles to the cores that
/// ask, and writes results back. Holds only the blocks in flight, however large the operator.
class OperatorRun : public TileSource, public NocClient, public DmaClient {
 public:
  struct Spec {
    std::int32_t position = 0;  ///< in the schedule
    std::int64_t depth = 2;     ///< buffers per operand
    std::int64_t split_k = 1;
    bool is_matmul = true;  ///< tiles are pulled by the tensor cores, else by the vector cores
  };
  struct Counts {
    std::int64_t macs = 0, tiles = 0;
    Bytes hbm_read, hbm_write, local;
    Bytes core_read, core_write;  ///< of the global buffer: a multicast tile counts once
    Bytes port_read;              ///< into the cores: a multicast tile counts for each
    Picoseconds vector_busy{};    ///< sum over vector cores
  };

  OperatorRun(const Spec& spec, std::unique_ptr<Lowering> lowering, RunResources resources);

  /// Called by the command processor at the event's time.
  void handle(const RunEvent& event);
  [[nodiscard]] std::int32_t position() const { return spec_.position; }
  [[nodiscard]] bool finished() const { return generated_all_ && blocks_.empty() && writes_ == 0; }
  /// Valid once finished.
  [[nodiscard]] const Path& done() const { return done_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// What it waits for, for the report of a deadlock.
  [[nodiscard]] std::string waiting_for() const;

  Pull next(std::int64_t core, TileJob& job) override;
  void loaded(const TileJob& job, const Path& done) override;
  void computed(std::int64_t core, const TileJob& job, const Path& done) override;
  [[nodiscard]] Loop loop(std::int64_t core) override;
  void skip(std::int64_t core, std::int64_t steps) override;
  void noc_answered(std::uint64_t tag, const Path& done) override;
  void dma_answered(std::uint64_t tag, const Path& done) override;

 private:
  /// A buffer in the global buffer, used by one block or by several in a row.
  struct Buffer {
    std::int64_t users = 0;
    bool closed = false;
    /// Output tiles whose partial sums are back, by block and tile: the delta cycle in which that was known, and when.
    std::unordered_map<std::int64_t, std::pair<std::uint64_t, Path>> stored;
  };
  static std::int64_t stored_key(std::int64_t block, std::int64_t tile) { return (block << 32) + tile; }
  struct Parts {
    std::int64_t left = 0;
    std::int64_t holder = 0, task = 0;  ///< core with the last part
    Path path;
  };
  struct Block {
    BlockPlan plan;
    std::array<std::shared_ptr<Buffer>, kSlots> buffers;
    std::size_t slots_issued = 0;
    std::int64_t loads_left = 0, reads_left = 0, stores_left = 0;
    bool is_ready = false, reads_done = false, complete = false;
    std::uint64_t ready_delta = 0;
    Path ready, read, stored;
    std::unordered_map<std::int64_t, SharedRead> shared;
    std::unordered_map<std::int64_t, Parts> parts;
  };
  /// A block's operand on its way from or to HBM, cut into one piece per DMA engine.
  struct Load {
    std::int64_t block = 0;
    Picoseconds requested{}, stalled{};
    bool is_write = false;
    std::int64_t pieces = 0;  ///< still under way
    Path done;                ///< of the latest piece
  };
  struct Store {
    std::int64_t block = 0, tile = 0;
    std::int64_t core = -1;  ///< tensor core whose accumulators it empties; -1: none
    bool is_part = false;
  };
  struct Cursor {
    std::int64_t block = 0, task = -1, step = 0;
  };
  /// Finished work of a vector core on a tensor core's result.
  class Epilogue : public TileSource {
   public:
    explicit Epilogue(OperatorRun& run) : run_(run) {}
    Pull next(std::int64_t, TileJob&) override { return Pull::finished; }
    void loaded(const TileJob&, const Path&) override {}
    void computed(std::int64_t core, const TileJob& job, const Path& done) override {
      run_.epilogue_done(core, job, done);
    }

   private:
    OperatorRun& run_;
  };

  [[nodiscard]] Block& block(std::int64_t ordinal) { return blocks_[static_cast<std::size_t>(ordinal - first_block_)]; }
  [[nodiscard]] std::int64_t end_block() const { return first_block_ + static_cast<std::int64_t>(blocks_.size()); }
  [[nodiscard]] std::int64_t cores() const;
  [[nodiscard]] std::uint64_t key(const BlockPlan& plan, std::int64_t task, std::int64_t step) const;
  void post(RunEvent::Kind kind, std::int64_t block_number, std::int64_t item, const Path& path);

  void issue();
  [[nodiscard]] bool generate();
  [[nodiscard]] bool issue_slots(Block& target);
  void load(Block& target, std::size_t slot);
  void transfer(Access access, Bytes bytes, Load what);
  void advance_ready();
  void wake_cores();
  void wake_core(std::size_t core);
  void wake_waiting_for(std::int64_t stored);
  void release_inputs(Block& target);
  void complete(Block& target);
  void close_output(Block& target);
  void retire();

  /// When the step at `cursor` can load; none while partial sums are still on their way.
  [[nodiscard]] std::optional<Path> ready_since(std::int64_t core, const Block& source, const Cursor& cursor);
  TileJob make_job(Block& source, Cursor& cursor);
  void finish_task(std::int64_t core, const TileJob& job, const Path& done);
  void part_done(Block& target, std::int64_t tile, const Path& done);
  void push_vector_work(Block& target, std::int64_t task, std::int64_t core, const Path& ready);
  void epilogue_done(std::int64_t core, const TileJob& job, const Path& done);
  void store(const Store& what, std::size_t port, Bytes bytes, const Path& path, std::uint64_t order);
  void stored(const Store& what, const Path& done);
  [[nodiscard]] VectorCore& vector_core_for(const BlockPlan& plan, std::int64_t task) const;

  Spec spec_;
  std::unique_ptr<Lowering> lowering_;
  RunResources resources_;
  Epilogue epilogue_;
  std::deque<Block> blocks_;
  std::int64_t first_block_ = 0, next_ready_ = 0;
  bool generated_all_ = false, is_launched_ = false;
  std::int64_t writes_ = 0;  ///< under way to HBM
  std::array<std::int64_t, kSlots> live_{};
  std::array<std::shared_ptr<Buffer>, kSlots> buffers_;  ///< latest of each operand
  std::vector<Cursor> cursors_;
  std::vector<std::int64_t> sums_wanted_;  ///< by core: stored_key of the partial sums it waits for; -1: none
  std::vector<Load> loads_;
  std::vector<std::size_t> free_loads_;
  std::vector<Store> stores_;
  std::vector<std::size_t> free_stores_;
  std::uint64_t transfers_ = 0, address_ = 0;
  Path present_, wanted_, last_loaded_, last_ready_, done_;
  Counts counts_;
};

}  // namespace tandem::sim
