// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sim/chip/hbm_times.h"
#include "sim/chip/memory_port.h"

namespace tandem::sim {

/// Adjacent atoms of one row of one channel.
struct HbmPiece {
  std::int32_t bank = 0;
  std::int32_t atoms = 0;
  std::int64_t row = 0;
  Access access = Access::read;
  std::int32_t client = 0;  ///< comes back with the answer
  Picoseconds arrival{};    ///< at the port
};

/// `atoms` atoms of a piece are there at `first`, `first + step`, ...: data of a read, or writes taken into the queue.
struct HbmService {
  std::int32_t client = 0;
  std::int32_t atoms = 0;
  Access access = Access::read;
  Picoseconds arrival{}, first{}, step{};
};

/// What waits at one channel. A port without bound takes one atom per command into the read or the write queue; from
/// there atoms go to the queue of their bank: reads, until the write queue is full (or has more than its mark while
/// the banks are idle), then as many writes as it holds. Writes are answered when they are in the queue.
class HbmQueues {
 public:
  struct Entry {
    std::int32_t piece = 0;
    std::int32_t atoms = 0;  ///< in the bank's queue
    std::int64_t row = 0;
    Access access = Access::read;
    Picoseconds visible{};
  };

  explicit HbmQueues(const HbmTimes& times);
  void push(const HbmPiece& piece);
  /// Moves what has room; answers to writes are appended to `answers`.
  void admit(Picoseconds now, std::vector<HbmService>& answers);
  [[nodiscard]] const std::vector<Entry>& of_bank(std::size_t bank) const { return banks_[bank].entries; }
  /// Bit set of banks with something to do.
  [[nodiscard]] const std::vector<std::uint64_t>& busy() const { return busy_; }
  [[nodiscard]] std::int64_t atoms_in_banks() const { return in_banks_; }
  /// Atoms of an entry that can be served in one go: what follows them out of the queue included.
  [[nodiscard]] std::int64_t available(std::size_t bank, std::size_t entry) const;
  const HbmPiece& piece(std::int32_t index) const { return pieces_[static_cast<std::size_t>(index)].piece; }
  /// Takes out `atoms` of those available.
  void take(std::size_t bank, std::size_t entry, std::int64_t atoms);

 private:
  struct Live {
    HbmPiece piece;
    std::int32_t unserved = 0;
    Picoseconds entered{};
  };
  struct Waiting {
    std::int32_t piece = 0;
    std::int32_t atoms = 0;
  };
  /// One direction before the bank queues.
  struct Side {
    std::vector<std::int32_t> port;  ///< from port_head on
    std::size_t port_head = 0;
    std::int32_t head_entered = 0;  ///< atoms of the port's head that are in the queue
    std::vector<Waiting> queue;
    std::int64_t queued = 0, depth = 1;
    Picoseconds port_free{};
  };
  struct Bank {
    std::vector<Entry> entries;
    std::int64_t atoms = 0;
  };

  [[nodiscard]] Side& side(Access access) { return access == Access::read ? read_ : write_; }
  [[nodiscard]] const Side& side(Access access) const { return access == Access::read ? read_ : write_; }
  bool enter(Access access, Picoseconds now, std::vector<HbmService>& answers);
  bool move(Access access, Picoseconds now);
  void put(const Waiting& waiting, std::int32_t atoms, Picoseconds now);
  [[nodiscard]] std::int64_t waiting_atoms(std::int32_t piece, Access access) const;

  Picoseconds command_;
  std::int64_t bank_depth_, write_mark_;
  std::vector<Live> pieces_;
  std::vector<std::int32_t> free_;
  Side read_, write_;
  std::int64_t draining_ = 0;  ///< writes still to be moved before reads are again
  std::vector<Bank> banks_;
  std::vector<std::uint64_t> busy_;
  std::int64_t in_banks_ = 0;
};

}  // namespace tandem::sim
