// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_scheduler.h"

#include <algorithm>
#include <bit>

namespace tandem::sim {

HbmScheduler::HbmScheduler(const HbmTimes& times, std::optional<Picoseconds> refresh_offset)
    : times_(times), banks_(times), queues_(times) {
  if (times.refresh_interval.count() > 0 && times.refresh_time.count() > 0) {
    refresh_at_ = refresh_offset.value_or(times.refresh_interval);
  }
}

void HbmScheduler::push(const HbmPiece& piece) {
  queues_.push(piece);
  queues_.admit(std::max(now_, piece.arrival), answers_);
  decide();
}

void HbmScheduler::advance(Picoseconds until) {
  for (;;) {
    const Picoseconds at = std::max(first_.at, now_);
    if (refresh_at_ <= std::min(at, until)) {
      refresh();
    } else if (at <= until) {
      now_ = at;
      apply();
    } else {
      break;
    }
    decide();
  }
  now_ = std::max(now_, until);
}

HbmScheduler::Decision HbmScheduler::of_bank(std::size_t bank) const {
  if (banks_.open_row(bank) != HbmBanks::kClosed) return of_open_bank(bank);
  const HbmQueues::Entry& head = queues_.of_bank(bank).front();
  const Picoseconds at = std::max(banks_.activate_at(bank), head.visible);
  const Picoseconds to_column = head.access == Access::read ? times_.row_to_read : times_.row_to_write;
  return {Kind::activate, at, std::max(at + to_column, banks_.column_at(bank, head.access)), kNever, bank, 0};
}

HbmScheduler::Decision HbmScheduler::of_open_bank(std::size_t bank) const {
  const auto& entries = queues_.of_bank(bank);
  const std::int64_t row = banks_.open_row(bank);
  const bool may_overtake = times_.policy.scheduling == HbmScheduling::first_ready;
  const std::size_t candidates = may_overtake ? entries.size() : 1;
  std::size_t hit = 0;
  while (hit < candidates && entries[hit].row != row) ++hit;
  if (hit == 0) {
    const Picoseconds at = std::max(banks_.column_at(bank, entries[0].access), entries[0].visible);
    return {Kind::columns, at, at, kNever, bank, 0};
  }
  const Picoseconds close = std::max(banks_.precharge_at(bank), entries[0].visible);
  if (hit < candidates) {
    const HbmQueues::Entry& entry = entries[hit];
    const Picoseconds at = std::max(banks_.column_at(bank, entry.access), entry.visible);
    const bool had_enough = banks_.columns_of_row(bank) >= times_.policy.row_hits;
    if (had_enough ? at < close : entry.visible <= close) return {Kind::columns, at, at, close, bank, hit};
  }
  const Picoseconds to_column = entries[0].access == Access::read ? times_.row_to_read : times_.row_to_write;
  const Picoseconds column = std::max(close + times_.precharge + to_column, banks_.column_at(bank, entries[0].access));
  return {Kind::precharge, close, column, kNever, bank, 0};
}

void HbmScheduler::decide() {
  first_ = {};
  next_ = kNever;
  if (queues_.atoms_in_banks() == 0) return;
  const auto consider = [this](std::size_t word, std::uint64_t bits) {
    for (; bits != 0; bits &= bits - 1) {
      const Decision decision = of_bank(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
      if (decision.at < first_.at) first_ = decision;
      next_ = std::min(next_, decision.answer);
    }
  };
  // From the bank after the last, round to the last.
  const std::vector<std::uint64_t>& busy = queues_.busy();
  const std::size_t from = last_bank_ / 64;
  const std::uint64_t up_to_last = ~std::uint64_t{0} >> (63 - last_bank_ % 64);
  consider(from, busy[from] & ~up_to_last);
  for (std::size_t i = 1; i < busy.size(); ++i) {
    const std::size_t word = (from + i) % busy.size();
    consider(word, busy[word]);
  }
  consider(from, busy[from] & up_to_last);
  next_ = std::max(next_, now_);
}

void HbmScheduler::apply() {
  last_bank_ = first_.bank;
  switch (first_.kind) {
    case Kind::activate:
      banks_.activate(first_.bank, queues_.of_bank(first_.bank).front().row, now_);
      ++stats_.activates;
      break;
    case Kind::precharge:
      banks_.precharge(first_.bank, now_);
      ++stats_.precharges;
      break;
    case Kind::columns: serve(); break;
    case Kind::none: break;
  }
}

std::int64_t HbmScheduler::atoms_at_once(const HbmQueues::Entry& entry) const {
  const Picoseconds step = times_.step();
  // Commands before `end`, the first one now.
  const auto before = [&](Picoseconds end) {
    return std::max<std::int64_t>(1, (end - now_ + step - Picoseconds(1)) / step);
  };
  std::int64_t atoms = queues_.available(first_.bank, first_.entry);
  // Where one bank group cannot fill the bus, the groups take turns.
  if (step > times_.column_short && queues_.atoms_in_banks() > entry.atoms) {
    atoms = std::min(atoms, times_.policy.bank_queue);
  }
  if (now_ + step * (atoms - 1) >= refresh_at_) atoms = std::min(atoms, before(refresh_at_));
  const std::int64_t left = std::max<std::int64_t>(0, times_.policy.row_hits - banks_.columns_of_row(first_.bank));
  if (first_.until != kNever && atoms > left) {
    atoms = std::min(atoms, before(std::max(first_.until, now_ + step * left)));
  }
  return atoms;
}

void HbmScheduler::serve() {
  const HbmQueues::Entry entry = queues_.of_bank(first_.bank)[first_.entry];
  const std::int64_t atoms = atoms_at_once(entry);
  banks_.columns(first_.bank, entry.access, atoms, now_);
  stats_.turnarounds += entry.access != last_access_ ? 1 : 0;
  last_access_ = entry.access;
  ++stats_.decisions;
  if (entry.access == Access::read) {
    const HbmPiece& piece = queues_.piece(entry.piece);
    answers_.push_back({piece.client, static_cast<std::int32_t>(atoms), Access::read, piece.arrival,
                        now_ + times_.read_latency + times_.burst, times_.step()});
    stats_.read_atoms += atoms;
  } else {
    stats_.write_atoms += atoms;
  }
  queues_.take(first_.bank, first_.entry, atoms);
  queues_.admit(now_, answers_);
  if (times_.policy.page_policy == PagePolicy::close) {
    const auto& entries = queues_.of_bank(first_.bank);
    const bool wanted = std::any_of(entries.begin(), entries.end(), [&](const auto& e) { return e.row == entry.row; });
    if (!wanted) banks_.auto_precharge(first_.bank);
  }
}

void HbmScheduler::refresh() {
  now_ = std::max(now_, refresh_at_);
  if (times_.policy.refresh == HbmRefresh::all_bank) {
    banks_.refresh_all(now_);
  } else {
    banks_.refresh_one(refresh_bank_, now_);
    refresh_bank_ = (refresh_bank_ + 1) % static_cast<std::size_t>(times_.banks());
  }
  refresh_at_ += times_.refresh_interval;
  ++stats_.refreshes;
}

}  // namespace tandem::sim
