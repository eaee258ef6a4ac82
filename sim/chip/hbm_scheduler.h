// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sim/chip/hbm_banks.h"
#include "sim/chip/hbm_queues.h"

namespace tandem::sim {

/// One channel's controller as an event model: its decisions are an activate, a precharge, or all columns of a piece
/// that follow each other (a row piece costs one such decision, unless a refresh, an older conflict or a full queue
/// cuts it). At every moment the bank that can go first does; of equals, the next after the last served in turn.
/// Arithmetic on what is known: nothing here knows of SystemC.
class HbmScheduler {
 public:
  struct Stats {
    std::int64_t activates = 0, precharges = 0, refreshes = 0, turnarounds = 0;
    std::int64_t decisions = 0;  ///< columns of one piece at a time
    std::int64_t read_atoms = 0, write_atoms = 0;
  };
  static constexpr Picoseconds kNever{std::numeric_limits<std::int64_t>::max() / 4};

  /// The first all-bank refresh is at `refresh_offset`, or an interval after the start.
  explicit HbmScheduler(const HbmTimes& times, std::optional<Picoseconds> refresh_offset = std::nullopt);
  /// A piece that arrives now or later; everything before its arrival must have been decided (`advance`).
  void push(const HbmPiece& piece);
  /// Takes every decision due by `until`.
  void advance(Picoseconds until);
  /// No answer comes before this moment unless more is pushed: when to call `advance` next; kNever if nothing waits.
  [[nodiscard]] Picoseconds next() const { return next_; }
  /// What has been answered since the caller last cleared it.
  [[nodiscard]] std::vector<HbmService>& answers() { return answers_; }
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  enum class Kind { none, activate, precharge, columns };
  struct Decision {
    Kind kind = Kind::none;
    Picoseconds at = kNever;
    Picoseconds answer = kNever;  ///< no column of the bank before
    Picoseconds until = kNever;   ///< when an older conflict may close the row
    std::size_t bank = 0, entry = 0;
  };

  [[nodiscard]] Decision of_bank(std::size_t bank) const;
  [[nodiscard]] Decision of_open_bank(std::size_t bank) const;
  void decide();
  void apply();
  void serve();
  void refresh();
  [[nodiscard]] std::int64_t atoms_at_once(const HbmQueues::Entry& entry) const;

  HbmTimes times_;
  HbmBanks banks_;
  HbmQueues queues_;
  Picoseconds now_{}, refresh_at_ = kNever, next_ = kNever;
  std::size_t refresh_bank_ = 0, last_bank_ = 0;
  Access last_access_ = Access::read;
  Decision first_;
  std::vector<HbmService> answers_;
  Stats stats_;
};

}  // namespace tandem::sim
