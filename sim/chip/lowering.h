// SPDX-License-Identifier: Apache-2.0
// From a mapped operator to the blocks and tile steps that a chip runs; pure computation, generated one block at a
// time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/support/quantity.h"
#include "sim/chip/tile.h"
#include "workloads/mapping.h"

namespace tandem::sim {

/// Operands of an operator by the buffers they take in the global buffer.
enum Slot : std::size_t { kSlotA, kSlotB, kSlotC };
inline constexpr std::size_t kSlots = 3;

/// What stands in the global buffer at once, and the tasks on it.
struct BlockPlan {
  std::int64_t ordinal = 0;
  std::array<bool, kSlots> opens{}, closes{};   ///< takes a new buffer with this block, is done with it after
  std::array<Bytes, kSlots> load{};             ///< from HBM before the tasks begin
  Bytes store{};                                ///< to HBM when the output closes
  bool starts_tasks = true, ends_tasks = true;  ///< else the tasks go on in the next block on the same cores
  bool sums_in = false;                         ///< partial sums of an earlier visit come from the global buffer
  bool sums_out = false;                        ///< results are partial sums
  std::int64_t first_task = 0, tasks = 0;       ///< numbers over all blocks
  std::vector<std::int32_t> needed;             ///< tasks in the full block's numbering if some are masked
  std::array<std::int64_t, 4> at{};             ///< origin along batch, m, n, k
  TileShape shape;
  std::int64_t output_base = 0;  ///< output elements in blocks before this one, of one visit
};

/// One tile of one task.
struct TileStep {
  std::array<Bytes, kSlots> loads{};
  std::array<std::int64_t, 2> shared{-1, -1};  ///< equal for steps that read A or B together; -1: alone
  Bytes inputs{}, accumulators{};
  TileTime time;
  Picoseconds vector_time{};
  std::int64_t macs = 0;
  Bytes local_traffic{};
};

/// What becomes of a task's result.
struct TaskResult {
  std::int64_t output_tile = 0;  ///< within the block
  bool is_last_part = true;
  Bytes partial{};  ///< one set of partial sums
  Bytes result{};   ///< written to the global buffer in the end
  Bytes epilogue_read{};
  Picoseconds epilogue{};   ///< on a vector core
  Picoseconds reduction{};  ///< adding up the parts of a split K on a vector core
};

class Lowering {
 public:
  virtual ~Lowering() = default;
  virtual std::optional<BlockPlan> next_block() = 0;
  virtual std::int64_t steps(const BlockPlan& block, std::int64_t task) = 0;
  /// Steps of a task from its second up to this one are alike and share no loads; 0: none.
  virtual std::int64_t loop_end(const BlockPlan& /*block*/, std::int64_t /*task*/) { return 0; }
  virtual TileStep step(const BlockPlan& block, std::int64_t task, std::int64_t step) = 0;
  virtual TaskResult result(const BlockPlan& block, std::int64_t task) = 0;
};

/// Hands out a total in proportion to elements, exactly: all shares of the whole add up to it.
class Share {
 public:
  Share() = default;
  Share(Bytes total, std::int64_t elements)
      : total_(total.value()),
        elements_(elements),
        each_(elements > 0 && total.value() % elements == 0 ? total.value() / elements : -1) {}
  /// Bytes of elements [from, from + count); `from` may run beyond the whole (another pass over it).
  [[nodiscard]] Bytes of(std::int64_t from, std::int64_t count) const { return Bytes(upto(from + count) - upto(from)); }

 private:
  [[nodiscard]] std::int64_t upto(std::int64_t element) const {
    if (elements_ == 0) return 0;
    if (each_ >= 0) return each_ * element;
    return static_cast<std::int64_t>(static_cast<Int128>(total_) * element / elements_);
  }
  std::int64_t total_ = 0, elements_ = 0;
  std::int64_t each_ = -1;  ///< bytes of every element if that is a whole number
};

}  // namespace tandem::sim
