// SPDX-License-Identifier: Apache-2.0
// Simulated bytes per second of CPU, and runs of SystemC processes per row piece. DRAMsim3 simulates 34.5 MB/s of
// sequential traffic on HBM2_8Gb_x128.
#include <benchmark/benchmark.h>

#include "arch/hbm_presets.h"
#include "sim/hbm_simulation.h"

namespace tandem {
namespace {

void run(benchmark::State& state, HbmTraffic traffic) {
  const Hbm hbm = *hbm_preset("HBM2_8Gb_x128");
  traffic.window = Bytes(65536);
  double bytes = 0, pieces = 0, channel_runs = 0, runs = 0;
  for (auto _ : state) {
    const HbmMeasurement measured = simulate_hbm(hbm, traffic, Seconds(40e-6), Seconds(400e-6));
    bytes += static_cast<double>(measured.answered.value());
    pieces += static_cast<double>(measured.pieces);
    channel_runs += static_cast<double>(measured.channel_activations);
    runs += static_cast<double>(measured.activations);
  }
  state.counters["bytes/s"] = benchmark::Counter(bytes, benchmark::Counter::kIsRate);
  state.counters["channel_runs/piece"] = channel_runs / pieces;
  state.counters["runs/piece"] = runs / pieces;
}

void BM_SequentialReads(benchmark::State& state) { run(state, {}); }
BENCHMARK(BM_SequentialReads)->Unit(benchmark::kMillisecond);

void BM_SequentialWrites(benchmark::State& state) {
  HbmTraffic traffic;
  traffic.writes = 1;
  run(state, traffic);
}
BENCHMARK(BM_SequentialWrites)->Unit(benchmark::kMillisecond);

void BM_Random(benchmark::State& state) {
  HbmTraffic traffic;
  traffic.pattern = HbmPattern::random;
  traffic.request = Bytes(state.range(0));
  run(state, traffic);
}
BENCHMARK(BM_Random)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tandem

BENCHMARK_MAIN();
