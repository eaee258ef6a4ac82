// SPDX-License-Identifier: Apache-2.0
// The chip's modules against the bare kernel. `activations/s` of the layer is to be read beside that of BareMethods
// with as many modules.
#include <benchmark/benchmark.h>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "arch/config.h"
#include "search/mapper.h"
#include "sim/chip_simulation.h"
#include "sim/kernel/context.h"
#include "workloads/program.h"

namespace tandem {
namespace {

/// A process that does nothing but run again.
class Ticker : public sc_core::sc_module {
 public:
  Ticker(sc_core::sc_module_name name, std::int64_t ticks) : sc_module(name), left_(ticks) {
    SC_METHOD(tick);
    sensitive << event_;
  }

 private:
  SC_HAS_PROCESS(Ticker);
  void tick() {
    if (--left_ > 0) event_.notify(sc_core::sc_time::from_value(1000));
  }
  sc_core::sc_event event_;
  std::int64_t left_;
};

void BM_BareMethods(benchmark::State& state) {
  constexpr std::int64_t kTicks = 10'000;
  const std::int64_t modules = state.range(0);
  for (auto _ : state) {
    const SimulationContext context;
    std::vector<std::unique_ptr<Ticker>> tickers;
    for (std::int64_t i = 0; i < modules; ++i) {
      tickers.push_back(std::make_unique<Ticker>(("ticker" + std::to_string(i)).c_str(), kTicks));
    }
    sc_core::sc_start();
  }
  state.counters["activations/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * modules * kTicks), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_BareMethods)->Arg(1)->Arg(32)->Unit(benchmark::kMillisecond);

Program llama_layer(const Chip& chip) {
  Plan plan;
  plan.global_batch = 1;
  plan.sequence = 4096;
  const TransformerModel model = load_model(TANDEM_SOURCE_DIR "/configs/model/llama2-7b.json");
  plan.stage_layers = {model.layers};
  Program program = build_program(model, plan);
  map_program(chip, program);
  return program;
}

/// One Llama-2-7B layer, forward and backward, 4096 tokens, on one TPU v4.
void BM_LlamaLayer(benchmark::State& state) {
  const Chip chip = load_chip(TANDEM_SOURCE_DIR "/configs/chip/tpu-v4.yaml");
  const Program program = llama_layer(chip);
  SimulationOptions options;
  options.detail = Detail::tile;
  std::int64_t activations = 0;
  for (auto _ : state) {
    for (const LayerProgram& layer : program.layers) {
      if (layer.name != "block") continue;
      for (const auto& steps : {layer.forward, layer.backward}) {
        for (const Step& step : steps) {
          if (const auto* compute = std::get_if<ComputeStep>(&step)) {
            activations +=
                run_slice(chip, program.slices[static_cast<std::size_t>(compute->slice)], options).activations;
          }
        }
      }
    }
  }
  state.counters["activations"] = static_cast<double>(activations) / static_cast<double>(state.iterations());
  state.counters["activations/s"] = benchmark::Counter(static_cast<double>(activations), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_LlamaLayer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tandem

BENCHMARK_MAIN();
