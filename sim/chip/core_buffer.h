// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/chip/path.h"

namespace tandem::sim {

/// Credits of a core's local buffer: room in bytes, and how many tiles' inputs may stand in it at once (two if double
/// buffered: one computes while the other loads).
class CoreBuffer {
 public:
  explicit CoreBuffer(Bytes capacity) : capacity_(capacity) {}

  void set_depth(std::int64_t depth) { depth_ = depth; }
  [[nodiscard]] bool has_room(Bytes bytes) const { return tiles_ < depth_ && used_ + bytes <= capacity_; }
  void acquire(Bytes bytes) {
    ++tiles_;
    used_ += bytes;
    peak_ = std::max(peak_, used_);
  }
  /// `freed` explains what waits for the room.
  void release(Bytes bytes, const Path& freed) {
    --tiles_;
    used_ -= bytes;
    freed_ = freed;
  }
  [[nodiscard]] const Path& freed() const { return freed_; }
  [[nodiscard]] Bytes capacity() const { return capacity_; }
  [[nodiscard]] Bytes peak() const { return peak_; }

 private:
  Bytes capacity_, used_{}, peak_{};
  std::int64_t depth_ = 2, tiles_ = 0;
  Path freed_;
};

}  // namespace tandem::sim
