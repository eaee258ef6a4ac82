// SPDX-License-Identifier: Apache-2.0
// A core's unit of work, and where it comes from.
#pragma once

#include <array>
#include <cstdint>

#include "sim/chip/global_buffer.h"
#include "sim/chip/path.h"

namespace tandem::sim {

/// Time of one tile on a tensor core. `steady` is what it takes right behind another tile, whose stream hides its fill.
struct TileTime {
  Picoseconds total{}, steady{};
  Picoseconds quantisation{}, fill_drain{};  ///< of total
  Picoseconds local{};                       ///< at the local buffer's bandwidth: a lower bound
};

/// One step of a task on a core: loads over the NoC, computes, and, at the end of a task, has a result.
struct TileJob {
  std::int32_t op = -1;
  std::uint64_t key = 0;  ///< of its operator, by block, task and step
  std::int64_t block = 0;
  std::int64_t task = 0;                      ///< within the block
  std::array<BufferAccess::Part, 3> loads{};  ///< A, B, partial sums
  Bytes inputs{};                             ///< room for them in the local buffer
  Bytes accumulators{};                       ///< room for the task's result; taken with its first step
  bool starts_task = true, ends_task = true, ends_block = true;
  bool in_loop = false;  ///< a step like the one before it and the one after it, alone in its loads
  TileTime time;
  Picoseconds vector_time{};  ///< vector cores
  Bytes result{};
  Path ready;  ///< operands are in the global buffer
};

enum class Pull { job, wait, finished };

/// A core's place among steps of its task that are all alike.
struct Loop {
  std::int64_t step = 0;  ///< the next
  std::int64_t end = 0;   ///< the first of another kind
  [[nodiscard]] std::int64_t left() const { return step > 0 && end > step ? end - step : 0; }
};

/// What cores ask for work; implemented by a running operator.
class TileSource {
 public:
  virtual ~TileSource() = default;
  /// `wait`: nothing yet; the core is woken when there may be. `core` counts from the operator's first.
  virtual Pull next(std::int64_t core, TileJob& job) = 0;
  /// The tile's operands are in the core's local buffer at `done`, now or later.
  virtual void loaded(const TileJob& job, const Path& done) = 0;
  /// Called at the moment that the core has computed the tile.
  virtual void computed(std::int64_t core, const TileJob& job, const Path& done) = 0;
  [[nodiscard]] virtual Loop loop(std::int64_t /*core*/) { return {}; }
  /// The core has done this many steps of its loop.
  virtual void skip(std::int64_t /*core*/, std::int64_t /*steps*/) {}
};

}  // namespace tandem::sim
