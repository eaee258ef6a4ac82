// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/chip/path.h"

namespace tandem::sim {

/// Credits of a core's local buffer for the operands of tiles: room in bytes, and how many tiles may stand in it at
/// once (one unless double buffered: else tiles load while others compute, as far as the room goes).
class CoreBuffer {
 public:
  void set_limits(Bytes room, std::int64_t tiles) {
    room_ = room;
    most_tiles_ = tiles;
  }
  [[nodiscard]] bool has_room(Bytes bytes) const { return tiles_ < most_tiles_ && used_ + bytes <= room_; }
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
  [[nodiscard]] Bytes used() const { return used_; }
  void shift(const PathShift& by) { by.move(freed_); }
  [[nodiscard]] Bytes peak() const { return peak_; }

 private:
  Bytes room_{}, used_{}, peak_{};
  std::int64_t most_tiles_ = 1, tiles_ = 0;
  Path freed_;
};

}  // namespace tandem::sim
