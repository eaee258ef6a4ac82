// SPDX-License-Identifier: Apache-2.0
// Bandwidth and latency of HBM under single kinds of traffic, from a detailed DRAM simulator or measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "arch/hbm_presets.h"
#include "search/hbm_traffic_rate.h"
#include "sim/hbm_simulation.h"
#include "tools/against/against.h"

namespace tandem {
namespace {

Hbm memory_of(const CsvRow& row, const MachineOverride& machine) {
  if (machine.chip) return machine.chip->hbm;
  const std::string name = row.text("config");
  const auto preset = hbm_preset(name);
  if (!preset)
    throw RowFailure("unknown memory", fmt::format("'{}' is none of {}", name, fmt::join(hbm_preset_names(), ", ")));
  return *preset;
}

Bytes bytes_of(const CsvRow& row, std::string_view column) { return Bytes(row.maybe_integer(column).value_or(0)); }

HbmTraffic traffic_of(const CsvRow& row, Seconds clock) {
  HbmTraffic traffic;
  const std::string pattern = row.text("pattern");
  const auto known = enum_from_name<HbmPattern>(pattern);
  if (!known) throw RowFailure("unknown pattern", pattern);
  traffic.pattern = *known;
  traffic.request = Bytes(row.integer("req_bytes"));
  traffic.stride = bytes_of(row, "stride_bytes");
  traffic.tile_rows = row.maybe_integer("tile_rows").value_or(1);
  traffic.tile_row = bytes_of(row, "tile_row_bytes");
  traffic.tile_pitch = bytes_of(row, "tile_pitch_bytes");
  traffic.streams = row.maybe_integer("engines").value_or(1);
  traffic.stream_offset = bytes_of(row, "engine_base_step");
  traffic.destination_offset = bytes_of(row, "dst_offset");
  traffic.writes = row.maybe_number("write_fraction").value_or(0);
  traffic.window = bytes_of(row, "window_bytes_total");
  traffic.one_at_a_time = row.maybe_integer("serial_jobs").value_or(0) > 0;
  traffic.gap = clock * static_cast<double>(row.maybe_integer("gap_cycles").value_or(0));
  traffic.offered = row.maybe_number("offered_frac_of_peak").value_or(0);
  traffic.arrivals = row.text("arrivals") == "even" ? Arrivals::even : Arrivals::poisson;
  traffic.seed = static_cast<std::uint64_t>(row.maybe_integer("seed").value_or(1));
  const bool plain = traffic.pattern == HbmPattern::sequential || traffic.pattern == HbmPattern::random ||
                     traffic.pattern == HbmPattern::copy;
  traffic.one_channel = plain && row.maybe_integer("channels_active").value_or(0) == 1;
  return traffic;
}

/// A saturated row's latency only restates its window over its bandwidth, or how long it was measured.
bool says_latency(const CsvRow& row) {
  return row.has("lat_mean_ns") && row.maybe_integer("saturated").value_or(0) == 0;
}

RowAnswer evaluate(const CsvRow& row, const MachineOverride& machine, const SimulationOptions* options) {
  constexpr double kNano = 1e-9, kGiga = 1e9, kCycles = 400000, kWarm = 40000;
  const Hbm hbm = memory_of(row, machine);
  const Seconds clock(row.maybe_number("tck_ns").value_or(1) * kNano);
  const HbmTraffic traffic = traffic_of(row, clock);
  const HbmPrediction predicted = predict_hbm(hbm, traffic);
  HbmMeasurement simulated;
  if (options != nullptr) {
    simulated = simulate_hbm(hbm, traffic, clock * row.maybe_number("warm_cycles").value_or(kWarm),
                             clock * row.maybe_number("meas_cycles").value_or(kCycles));
  }
  const auto both = [&](double value) { return options == nullptr ? NAN : value; };
  RowAnswer answer;
  answer.machine = hbm.generation;
  answer.metrics.push_back({"bandwidth_bytes_per_s", predicted.bandwidth.value(), both(simulated.bandwidth.value()),
                            row.number("bw_frac_of_peak") * row.number("peak_GBps") * kGiga});
  if (says_latency(row)) {
    answer.metrics.push_back({"latency_s", predicted.read_latency.count(), both(simulated.read_latency.count()),
                              row.number("lat_mean_ns") * kNano});
  }
  return answer;
}

}  // namespace

ReferenceKind hbm_kind() {
  return {"hbm", {"config", "pattern", "req_bytes", "peak_GBps", "bw_frac_of_peak"}, {"pattern", "config"}, evaluate};
}

}  // namespace tandem
