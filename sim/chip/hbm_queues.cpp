// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_queues.h"

#include <algorithm>

namespace tandem::sim {
namespace {

constexpr std::size_t kWord = 64;

}  // namespace

HbmQueues::HbmQueues(const HbmTimes& times)
    : command_(times.command),
      bank_depth_(times.policy.bank_queue),
      write_mark_(times.policy.write_mark),
      banks_(static_cast<std::size_t>(times.banks())),
      busy_((banks_.size() + kWord - 1) / kWord) {
  read_.depth = times.policy.read_queue;
  write_.depth = times.policy.write_queue;
}

void HbmQueues::push(const HbmPiece& piece) {
  std::int32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::int32_t>(pieces_.size());
    pieces_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  pieces_[static_cast<std::size_t>(index)] = {piece, piece.atoms, {}};
  side(piece.access).port.push_back(index);
}

void HbmQueues::admit(Picoseconds now, std::vector<HbmService>& answers) {
  for (bool moved = true; moved;) {
    moved = enter(Access::read, now, answers);
    if (draining_ == 0) moved |= move(Access::read, now);
    moved |= enter(Access::write, now, answers);
    if (draining_ == 0 && (write_.queued >= write_.depth || (write_.queued > write_mark_ && in_banks_ == 0))) {
      draining_ = write_.queued;
    }
    if (draining_ > 0) moved |= move(Access::write, now);
  }
}

bool HbmQueues::enter(Access access, Picoseconds now, std::vector<HbmService>& answers) {
  Side& from = side(access);
  bool any = false;
  while (from.port_head < from.port.size() && from.queued < from.depth) {
    const std::int32_t index = from.port[from.port_head];
    Live& live = pieces_[static_cast<std::size_t>(index)];
    const std::int32_t left = live.piece.atoms - from.head_entered;
    const auto atoms = static_cast<std::int32_t>(std::min<std::int64_t>(left, from.depth - from.queued));
    const Picoseconds at = std::max({now, live.piece.arrival, from.port_free});
    from.port_free = at + command_ * atoms;
    if (from.head_entered == 0) live.entered = at;
    if (access == Access::write) {
      answers.push_back({live.piece.client, atoms, access, live.piece.arrival, at, command_});
    }
    if (!from.queue.empty() && from.queue.back().piece == index) {
      from.queue.back().atoms += atoms;
    } else {
      from.queue.push_back({index, atoms});
    }
    from.queued += atoms;
    from.head_entered += atoms;
    any = true;
    if (from.head_entered < live.piece.atoms) break;
    from.head_entered = 0;
    if (++from.port_head == from.port.size()) {
      from.port.clear();
      from.port_head = 0;
    }
  }
  // The port's dead part is dropped now and then.
  constexpr std::size_t kLongPort = 4096;
  if (from.port_head > kLongPort) {
    from.port.erase(from.port.begin(), from.port.begin() + static_cast<std::ptrdiff_t>(from.port_head));
    from.port_head = 0;
  }
  return any;
}

bool HbmQueues::move(Access access, Picoseconds now) {
  Side& from = side(access);
  bool any = false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < from.queue.size(); ++i) {
    Waiting waiting = from.queue[i];
    const Bank& bank = banks_[static_cast<std::size_t>(piece(waiting.piece).bank)];
    std::int64_t atoms = std::min<std::int64_t>(waiting.atoms, bank_depth_ - bank.atoms);
    if (access == Access::write) atoms = std::min(atoms, draining_);
    if (atoms > 0) {
      put(waiting, static_cast<std::int32_t>(atoms), now);
      waiting.atoms -= static_cast<std::int32_t>(atoms);
      from.queued -= atoms;
      if (access == Access::write) draining_ -= atoms;
      any = true;
    }
    if (waiting.atoms > 0) from.queue[kept++] = waiting;
  }
  from.queue.resize(kept);
  return any;
}

void HbmQueues::put(const Waiting& waiting, std::int32_t atoms, Picoseconds now) {
  const Live& live = pieces_[static_cast<std::size_t>(waiting.piece)];
  const auto index = static_cast<std::size_t>(live.piece.bank);
  Bank& bank = banks_[index];
  if (!bank.entries.empty() && bank.entries.back().piece == waiting.piece) {
    bank.entries.back().atoms += atoms;
  } else {
    const Picoseconds visible = std::max(now, live.entered) + command_;
    bank.entries.push_back({waiting.piece, atoms, live.piece.row, live.piece.access, visible});
  }
  bank.atoms += atoms;
  in_banks_ += atoms;
  busy_[index / kWord] |= std::uint64_t{1} << (index % kWord);
}

std::int64_t HbmQueues::waiting_atoms(std::int32_t piece, Access access) const {
  for (const Waiting& waiting : side(access).queue) {
    if (waiting.piece == piece) return waiting.atoms;
  }
  return 0;
}

std::int64_t HbmQueues::available(std::size_t bank, std::size_t entry) const {
  const Bank& from = banks_[bank];
  const Entry& first = from.entries[entry];
  const Live& live = pieces_[static_cast<std::size_t>(first.piece)];
  if (live.unserved == first.atoms || entry + 1 != from.entries.size()) return first.atoms;
  if (first.access == Access::read)
    return first.atoms + (draining_ == 0 ? waiting_atoms(first.piece, Access::read) : 0);
  return first.atoms + std::min(draining_, waiting_atoms(first.piece, Access::write));
}

void HbmQueues::take(std::size_t bank, std::size_t entry, std::int64_t atoms) {
  Bank& from = banks_[bank];
  Entry& first = from.entries[entry];
  const std::int32_t index = first.piece;
  Live& live = pieces_[static_cast<std::size_t>(index)];
  const std::int64_t here = std::min<std::int64_t>(atoms, first.atoms);
  const std::int64_t behind = atoms - here;
  live.unserved -= static_cast<std::int32_t>(atoms);
  first.atoms -= static_cast<std::int32_t>(here);
  from.atoms -= here;
  in_banks_ -= here;
  if (behind > 0) {
    Side& queue = side(first.access);
    const auto waiting = std::find_if(queue.queue.begin(), queue.queue.end(),
                                      [index](const Waiting& candidate) { return candidate.piece == index; });
    waiting->atoms -= static_cast<std::int32_t>(behind);
    if (waiting->atoms == 0) queue.queue.erase(waiting);
    queue.queued -= behind;
    if (first.access == Access::write) draining_ -= behind;
  }
  if (first.atoms == 0) from.entries.erase(from.entries.begin() + static_cast<std::ptrdiff_t>(entry));
  if (from.entries.empty()) busy_[bank / kWord] &= ~(std::uint64_t{1} << (bank % kWord));
  if (live.unserved == 0) free_.push_back(index);
}

}  // namespace tandem::sim
