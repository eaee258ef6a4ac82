// SPDX-License-Identifier: Apache-2.0
#include "search/hbm_traffic_rate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace tandem {
namespace {

/// Bytes of the sample, and of a window where there is none.
constexpr std::int64_t kSample = std::int64_t{1} << 20, kFreeWindow = std::int64_t{1} << 16;

struct Bank {
  std::int64_t row = -1, atoms = 0, activates = 0;
};

/// What one stretch of the traffic asks of one channel.
struct Load {
  std::int64_t atoms = 0, writes = 0, activates = 0;
  std::map<std::int64_t, Bank> banks;
};

using Stretch = std::map<std::int64_t, Load>;

class Sampler {
 public:
  Sampler(const Hbm& hbm, const HbmTraffic& traffic) : hbm_(hbm), mapping_(hbm) {
    for (std::int64_t i = 0; i < engines_of(traffic); ++i) streams_.emplace_back(hbm, traffic, i);
  }

  /// `bytes` at least, whole requests; a job if `whole_job`.
  Stretch stretch(std::int64_t bytes) {
    Stretch loads;
    for (std::int64_t done = 0; done < bytes;) done += add(loads, streams_[turn_++ % streams_.size()].next());
    return loads;
  }

  Stretch job() {
    Stretch loads;
    for (bool ends = false; !ends;) {
      const HbmRequest request = streams_.front().next();
      add(loads, request);
      ends = request.ends_job;
    }
    return loads;
  }

 private:
  std::int64_t add(Stretch& loads, HbmRequest request) {
    const std::int64_t bytes = request.bytes.value();
    for (std::int64_t left = bytes; left > 0;) {
      const HbmLocation place = mapping_.locate(request.address);
      const std::int64_t part = std::min(left, place.adjacent.value());
      const std::int64_t atoms = ceil_div(part, hbm_.atom.value());
      Load& load = loads[place.channel];
      Bank& bank = load.banks[place.bank];
      load.atoms += atoms;
      if (request.write) load.writes += atoms;
      bank.atoms += atoms;
      if (bank.row != place.row) {
        bank.row = place.row;
        ++bank.activates;
        ++load.activates;
      }
      request.address += static_cast<std::uint64_t>(part);
      left -= part;
    }
    return bytes;
  }

  const Hbm& hbm_;
  HbmMapping mapping_;
  std::vector<HbmAddressStream> streams_;
  std::size_t turn_ = 0;
};

double at_least_one(std::int64_t value) { return static_cast<double>(std::max<std::int64_t>(1, value)); }

struct Rates {
  double burst, column, activate;
  const HbmTiming& t;
};

Rates rates_of(const Hbm& hbm) {
  const double burst = (hbm.atom / (hbm.bandwidth / hbm.channels())).count();
  return {burst, std::max(burst, hbm.timing.tccd_l.count()),
          std::max(hbm.timing.trrd.count(), hbm.timing.tfaw.count() / 4), hbm.timing};
}

/// Seconds that a channel needs for its load, refresh left out.
double channel_time(const Hbm& hbm, const Load& load) {
  const Rates r = rates_of(hbm);
  const auto per_group = std::max<std::int64_t>(1, r.t.banks_per_group);
  bool one_group = true;
  double banks = 0;
  for (const auto& [index, bank] : load.banks) {
    one_group = one_group && index / per_group == load.banks.begin()->first / per_group;
    const double atoms = static_cast<double>(bank.atoms) / at_least_one(bank.activates);
    const double open = std::max(r.t.tras.count(), r.t.trcd.count() + (atoms - 1) * r.column + r.t.trtp.count());
    banks = std::max(banks, static_cast<double>(bank.activates - 1) * (open + r.t.trp.count()) + atoms * r.column);
  }
  const auto atoms = static_cast<double>(load.atoms);
  double data = atoms * (one_group ? r.column : r.burst);
  const std::int64_t reads = load.atoms - load.writes;
  if (load.writes > 0 && reads > 0) {
    const double turn = r.t.trtw.count() + r.t.tcwl.count() + r.burst + r.t.twtr.count() - 2 * r.burst;
    data += static_cast<double>(load.writes) / at_least_one(hbm.controller.write_queue) * std::max(0.0, turn);
  }
  return std::max({data, static_cast<double>(load.activates) * r.activate, banks});
}

double slowest(const Hbm& hbm, const Stretch& loads) {
  double time = 0;
  for (const auto& [channel, load] : loads) time = std::max(time, channel_time(hbm, load));
  return time;
}

double refresh_share(const HbmTiming& t) {
  if (t.trefi <= Seconds(0)) return 1;
  return std::max(0.01, 1 - (t.trfc + t.trp + t.trcd) / t.trefi);
}

/// Mean wait of what comes at a random moment for a refresh to end.
double refresh_wait(const HbmTiming& t) {
  if (t.trefi <= Seconds(0)) return 0;
  const double blocked = (t.trfc + t.trp).count();
  return blocked * blocked / (2 * t.trefi.count());
}

struct Sum {
  double bytes = 0, time = 0, atoms = 0, activates = 0;
};

Sum add_up(const Hbm& hbm, Sum sum, const Stretch& loads) {
  sum.time += slowest(hbm, loads);
  for (const auto& [channel, load] : loads) {
    sum.atoms += static_cast<double>(load.atoms);
    sum.activates += static_cast<double>(load.activates);
  }
  sum.bytes = sum.atoms * static_cast<double>(hbm.atom.value());
  return sum;
}

/// Unloaded, `rate` bytes per second spread over all banks: a row is found open with another row in it if its bank was
/// used since the last refresh.
double unloaded(const Hbm& hbm, const Sum& sum, double rate) {
  const HbmTiming& t = hbm.timing;
  const double misses = sum.activates / std::max(1.0, sum.atoms);
  const double banks = at_least_one(hbm.channels() * t.bank_groups * t.banks_per_group);
  const double uses = rate / static_cast<double>(hbm.atom.value()) * misses * t.trefi.count() / banks;
  const double conflicts = uses > 1e-9 ? 1 - (1 - std::exp(-uses)) / uses : 0;
  const Rates r = rates_of(hbm);
  const double command = t.tck > Seconds(0) ? t.tck.count() : r.burst / 2;
  return command + t.tcl.count() + r.burst + misses * (t.trcd.count() + conflicts * t.trp.count()) + refresh_wait(t);
}

HbmPrediction of_jobs(const Hbm& hbm, const HbmTraffic& traffic, Sampler& sampler) {
  constexpr int kJobs = 16;
  Sum sum;
  for (int i = 0; i < kJobs; ++i) sum = add_up(hbm, sum, sampler.job());
  const Rates r = rates_of(hbm);
  const double busy = sum.time / kJobs / refresh_share(hbm.timing);
  const double row = std::min(1.0, sum.activates / kJobs) * hbm.timing.trcd.count();
  const double first = hbm.timing.tcl.count() + row + refresh_wait(hbm.timing);
  const double period = first + busy + traffic.gap.count();
  const double bytes = sum.bytes / kJobs;
  return {Bandwidth(bytes / period), Seconds(std::max(first + r.burst, first + busy / 2))};
}

HbmPrediction open_loop(const Hbm& hbm, const HbmTraffic& traffic, const Sum& sum, double most) {
  const double rate = std::min(most, hbm.bandwidth.value() * traffic.offered);
  const double load = std::min(0.99, rate / most);
  const double request = static_cast<double>(std::max(traffic.request, hbm.atom).value());
  const auto parts = std::max(1.0, request / static_cast<double>(hbm.timing.page.value()));
  const double service = request / parts / most * at_least_one(hbm.channels());
  const double wait = traffic.arrivals == Arrivals::even ? 0 : service * load / (2 * (1 - load));
  return {Bandwidth(rate), Seconds(unloaded(hbm, sum, rate) + wait + service / 2)};
}

}  // namespace

HbmPrediction predict_hbm(const Hbm& hbm, const HbmTraffic& traffic) {
  check_traffic(hbm, traffic);
  Sampler sampler(hbm, traffic);
  if (traffic.one_at_a_time) return of_jobs(hbm, traffic, sampler);
  // While what is in flight returns, as much again is issued.
  const std::int64_t window = traffic.window > Bytes(0) ? traffic.window.value() : kFreeWindow;
  Sum sum;
  for (std::int64_t done = 0; done < kSample; done += 2 * window) {
    sum = add_up(hbm, sum, sampler.stretch(std::min(2 * window, kSample)));
  }
  const double most =
      std::min(hbm.bandwidth.value(), sum.bytes / std::max(sum.time, 1e-15)) * refresh_share(hbm.timing);
  if (traffic.offered > 0) return open_loop(hbm, traffic, sum, most);
  // Atoms of a window wait for each other: half of what the slowest channel needs for it in the mean.
  const double round_trip = unloaded(hbm, sum, most) + slowest(hbm, sampler.stretch(window)) / 2;
  const double in_flight = static_cast<double>(traffic.window.value()) / std::max(1e-9, 1 - traffic.writes);
  const double rate = std::min(most, in_flight / round_trip);
  return {Bandwidth(rate), Seconds(std::max(round_trip, in_flight / rate))};
}

}  // namespace tandem
