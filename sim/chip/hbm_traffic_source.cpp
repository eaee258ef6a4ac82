// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/hbm_traffic_source.h"

#include <algorithm>
#include <cmath>

#include "sim/kernel/timed_queue.h"

namespace tandem::sim {
namespace {

/// Pieces that a window holds at least, so that it is used like one of single atoms.
constexpr std::int64_t kPiecesOfWindow = 32;
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max() / 4;

/// Requests of one sequential stream merge into whole rows.
HbmTraffic merged(const Hbm& hbm, HbmTraffic traffic) {
  const bool plain = traffic.streams == 1 && !traffic.one_at_a_time && traffic.offered <= 0;
  if (traffic.pattern == HbmPattern::sequential && plain) traffic.request = std::max(traffic.request, hbm.timing.page);
  return traffic;
}

/// Atoms of an answer that are there at `at`.
std::int64_t there(const HbmService& answer, Picoseconds at) {
  if (answer.first > at) return 0;
  if (answer.first + answer.step * (answer.atoms - 1) <= at) return answer.atoms;
  return std::min<std::int64_t>(answer.atoms, (at - answer.first) / answer.step + 1);
}

}  // namespace

HbmTrafficSource::HbmTrafficSource(sc_core::sc_module_name name, const Spec& spec)
    : sc_module(name), spec_(spec), mapping_(spec.hbm) {
  const HbmTraffic traffic = merged(spec.hbm, spec.traffic);
  const std::int64_t engines = engines_of(traffic);
  const std::int64_t window = traffic.offered > 0 ? kNoLimit : traffic.window.value() / spec.hbm.atom.value() / engines;
  most_atoms_ =
      std::clamp<std::int64_t>(window / kPiecesOfWindow, 1, spec.hbm.timing.page.value() / spec.hbm.atom.value());
  for (std::int64_t i = 0; i < engines; ++i) {
    engines_.push_back({.stream = HbmAddressStream(spec.hbm, traffic, i), .credit = window});
  }
  if (traffic.offered > 0) {
    const double request = static_cast<double>(std::max(traffic.request, spec.hbm.atom).value());
    interval_ = request / (spec.hbm.bandwidth.value() * traffic.offered) * 1e12;
  }
  SC_METHOD(process);
  sensitive << wake_;
}

void HbmTrafficSource::wake_at(Picoseconds at) {
  if (at < HbmScheduler::kNever) wake_.notify(to_sc_time(std::max(at - now(), Picoseconds(1))));
}

void HbmTrafficSource::process() {
  ++stats_.activations;
  for (std::size_t blocked = 0; blocked < engines_.size();) {
    const Step step = issue(turn_);
    if (step == Step::later) break;
    blocked = step == Step::issued ? 0 : blocked + 1;
    if (engines_[turn_].request.bytes == Bytes(0) || blocked > 0) turn_ = (turn_ + 1) % engines_.size();
  }
}

bool HbmTrafficSource::has_request(Engine& engine) {
  if (engine.request.bytes > Bytes(0)) return true;
  if (engine.job_open) {
    if (engine.in_flight > 0) {
      engine.needed = engine.in_flight;
      return false;
    }
    engine.job_open = false;
    engine.job_from = now() + to_picoseconds(spec_.traffic.gap);
  }
  if (engine.job_from > now()) {
    wake_at(engine.job_from);
    return false;
  }
  if (interval_ > 0) {
    if (arrival_ > static_cast<double>(now().count())) {
      wake_at(Picoseconds(static_cast<std::int64_t>(std::ceil(arrival_))));
      return false;
    }
    arrival_ += interval_ * engine.stream.next_interval();
  }
  engine.request = engine.stream.next();
  return true;
}

HbmTrafficSource::Step HbmTrafficSource::issue(std::size_t index) {
  Engine& engine = engines_[index];
  collect(engine);
  engine.needed = 0;
  if (!has_request(engine)) {
    if (engine.needed > 0) wake_at(credit_at(engine));
    return Step::blocked;
  }
  const std::int64_t atom = spec_.hbm.atom.value();
  const HbmLocation place = mapping_.locate(engine.request.address);
  const std::int64_t left = std::min(engine.request.bytes.value(), place.adjacent.value());
  const std::int64_t atoms = std::min(most_atoms_, ceil_div(left, atom));
  if (engine.credit < atoms) {
    engine.needed = atoms - engine.credit;
    wake_at(credit_at(engine));
    return Step::blocked;
  }
  if (issue_at_ > now()) {
    wake_at(issue_at_);
    return Step::later;
  }
  engine.credit -= atoms;
  engine.in_flight += atoms;
  engine.request.address += static_cast<std::uint64_t>(atoms * atom);
  engine.request.bytes = std::max(Bytes(0), engine.request.bytes - Bytes(atoms * atom));
  if (engine.request.bytes == Bytes(0) && engine.request.ends_job) engine.job_open = spec_.traffic.one_at_a_time;
  issue_free_ = std::max(issue_free_, now() * spec_.hbm.channels() / spec_.command) + atoms;
  issue_at_ = spec_.command * issue_free_ / spec_.hbm.channels();
  ++stats_.pieces;
  stats_.issued_atoms += atoms;
  HbmPiece piece;
  piece.bank = static_cast<std::int32_t>(place.bank);
  piece.atoms = static_cast<std::int32_t>(atoms);
  piece.row = place.row;
  piece.access = engine.request.write ? Access::write : Access::read;
  piece.client = static_cast<std::int32_t>(index);
  channels_[static_cast<std::size_t>(place.channel)]->submit(piece);
  return Step::issued;
}

void HbmTrafficSource::collect(Engine& engine) {
  const Picoseconds present = now();
  for (std::size_t i = 0; i < engine.due.size();) {
    HbmService& answer = engine.due[i];
    const std::int64_t atoms = there(answer, present);
    engine.credit += atoms;
    engine.in_flight -= atoms;
    if (atoms == answer.atoms) {
      answer = engine.due.back();
      engine.due.pop_back();
      continue;
    }
    answer.first += answer.step * atoms;
    answer.atoms -= static_cast<std::int32_t>(atoms);
    ++i;
  }
}

Picoseconds HbmTrafficSource::credit_at(const Engine& engine) const {
  std::int64_t known = 0;
  for (const HbmService& answer : engine.due) known += answer.atoms;
  if (known < engine.needed) return HbmScheduler::kNever;  // more answers will come first
  // As fast as all that then run could give them is never too late; so step by step to the moment itself.
  Picoseconds at = now();
  for (;;) {
    std::int64_t came = 0, running = 0;
    Picoseconds step{std::numeric_limits<std::int64_t>::max()}, next = HbmScheduler::kNever;
    for (const HbmService& answer : engine.due) {
      const std::int64_t atoms = there(answer, at);
      came += atoms;
      if (atoms == answer.atoms) continue;
      if (atoms == 0) {
        next = std::min(next, answer.first);
      } else {
        ++running;
        step = std::min(step, answer.step);
      }
    }
    if (came >= engine.needed) return at;
    if (running > 0) next = std::min(next, at + step * ceil_div(engine.needed - came, running));
    at = next;
  }
}

void HbmTrafficSource::hbm_answered(std::span<const HbmService> answers) {
  for (const HbmService& answer : answers) {
    Engine& engine = engines_[static_cast<std::size_t>(answer.client)];
    engine.due.push_back(answer);
    measure(answer);
    if (engine.needed > 0) wake_at(credit_at(engine));
  }
}

void HbmTrafficSource::measure(const HbmService& answer) {
  const auto before = [&](Picoseconds at) { return there(answer, at - Picoseconds(1)); };
  const std::int64_t skipped = before(spec_.from), kept = before(spec_.to) - skipped;
  stats_.answered_atoms += answer.atoms;
  if (answer.access == Access::write) {
    stats_.written_atoms += kept;
    return;
  }
  stats_.read_atoms += kept;
  const Picoseconds first = answer.first + answer.step * skipped - answer.arrival;
  stats_.read_latency += static_cast<double>((first * kept + answer.step * (kept * (kept - 1) / 2)).count());
}

}  // namespace tandem::sim
