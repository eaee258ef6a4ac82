// SPDX-License-Identifier: Apache-2.0
// Skips whole periods of tile loops that have proved to repeat.
#pragma once

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "sim/chip/global_buffer.h"
#include "sim/chip/noc.h"
#include "sim/chip/path.h"

namespace tandem::sim {

class TensorCore;

/// While tensor cores repeat one step of their tasks, nothing but tiles happens: the cores ask the global buffer for
/// operands, compute, and ask again. This module looks at all of them at moments when nothing is left to do at the
/// present time. If two such looks find the same state but for one common shift of all paths, if nothing but such
/// steps took place between them, and if no other event was pending between them, then what follows repeats what
/// passed, shifted: a step only adds to paths, takes the later of two and compares two, and a common shift changes no
/// such outcome. So as many periods as end before the next other event, and before any core leaves its loop, are
/// skipped: paths move by the shift, counters by what a period counted. No result differs by a picosecond.
class TileFolder : public sc_core::sc_module {
 public:
  struct Stats {
    std::int64_t looks = 0, folds = 0, periods = 0, tiles = 0;  ///< the last two: skipped
  };

  TileFolder(sc_core::sc_module_name name, std::vector<TensorCore*> cores, GlobalBuffer& buffer, Noc& noc);
  /// A core has computed a tile of its loop, all else of this instant aside.
  void tile_computed(const TensorCore& core);
  /// Something happened that is no step of a loop, or whose outcome a shift might change.
  void disturb() { ++disturbances_; }

  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  SC_HAS_PROCESS(TileFolder);
  /// All that decides how the loops go on, and what they count.
  struct State {
    Path base;  ///< all paths in `relative` are less this one
    std::vector<std::int64_t> relative;
    std::vector<std::int64_t> steps;  ///< by core: its next step
    std::vector<Picoseconds> busy;    ///< by core
    std::vector<std::int64_t> tiles;  ///< by core
    GlobalBuffer::Stats buffer;
    Noc::Stats noc;
    Picoseconds at{}, next_other{};  ///< next event that is no core's
  };
  struct Look {
    std::uint64_t mark = 0;
    Picoseconds at{};
  };

  void process();
  void begin_anew();
  [[nodiscard]] std::uint64_t mark() const;
  void look();
  [[nodiscard]] State state();
  [[nodiscard]] Picoseconds next_other_event();
  void check(const State& now);
  void look_less();
  void skip(const State& before, const State& now, std::int64_t periods);

  std::vector<TensorCore*> cores_;
  GlobalBuffer& buffer_;
  Noc& noc_;
  sc_core::sc_event event_;
  const TensorCore* leader_ = nullptr;  ///< whose tiles mark the time
  std::uint64_t disturbances_ = 0, seen_disturbances_ = 0;
  std::vector<Look> looks_;   ///< since the last disturbance
  State candidate_;           ///< compared with the state of `check_at_`
  std::size_t check_at_ = 0;  ///< number of the look; 0: none
  std::size_t wait_ = 0;      ///< tiles to let pass after looks in vain
  std::size_t failures_ = 0;  ///< looks in vain, one after another
  Stats stats_;
};

}  // namespace tandem::sim
