// SPDX-License-Identifier: Apache-2.0
// One transformer layer, forward and backward, through the chip's modules, and the same traffic through the bare
// kernel: as many modules, activations and notifications, with empty bodies. Both in one process, one after the other.
#include <fmt/format.h>
#include <sys/resource.h>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <systemc>
#include <vector>

#include "arch/config.h"
#include "search/mapper.h"
#include "sim/chip/chip_module.h"
#include "sim/kernel/context.h"
#include "workloads/program.h"

namespace tandem {
namespace {

/// Of processor time, which others on the machine do not lengthen.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// How often the modules of one kind ran: by themselves at a time of their own (cores), or in the next delta cycle
/// because another asked (memories, engines, command processor).
struct Traffic {
  std::vector<std::int64_t> timed, asked;
  std::int64_t simulated_ps = 0;

  [[nodiscard]] std::int64_t total() const {
    std::int64_t sum = 0;
    for (const auto& list : {timed, asked}) {
      for (const std::int64_t count : list) sum += count;
    }
    return sum;
  }
};

class Asked : public sc_core::sc_module {
 public:
  explicit Asked(sc_core::sc_module_name name) : sc_module(name) {
    SC_METHOD(run);
    sensitive << event_;
    dont_initialize();
  }
  void ask() { event_.notify(sc_core::SC_ZERO_TIME); }
  std::int64_t activations = 0;

 private:
  SC_HAS_PROCESS(Asked);
  void run() { ++activations; }
  sc_core::sc_event event_;
};

/// Runs `count` times, evenly over the simulated time, and asks others so that they run as often as they should.
class Timed : public sc_core::sc_module {
 public:
  Timed(sc_core::sc_module_name name, std::int64_t count, std::int64_t interval, std::vector<Asked*> others,
        std::int64_t asks)
      : sc_module(name), left_(count), interval_(interval), others_(std::move(others)), asks_(asks), count_(count) {
    SC_METHOD(run);
    sensitive << event_;
    dont_initialize();
    if (count > 0) event_.notify(sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(interval_ + 1)));
  }
  std::int64_t activations = 0;

 private:
  SC_HAS_PROCESS(Timed);
  void run() {
    ++activations;
    for (due_ += asks_; due_ >= count_; due_ -= count_) {
      others_[next_]->ask();
      next_ = (next_ + 1) % others_.size();
    }
    if (--left_ > 0) event_.notify(sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(interval_)));
  }
  sc_core::sc_event event_;
  std::int64_t left_, interval_;
  std::vector<Asked*> others_;
  std::int64_t asks_, count_, due_ = 0;
  std::size_t next_ = 0;
};

struct Bare {
  double seconds = 0;
  std::int64_t activations = 0;
};

Bare run_bare(const Traffic& traffic) {
  const SimulationContext context;
  std::vector<std::unique_ptr<Asked>> asked;
  std::vector<Asked*> others;
  std::int64_t to_ask = 0;
  std::int64_t timed_total = 0;
  for (const std::int64_t count : traffic.asked) {
    asked.push_back(std::make_unique<Asked>(("asked" + std::to_string(asked.size())).c_str()));
    others.push_back(asked.back().get());
    to_ask += count;
  }
  for (const std::int64_t count : traffic.timed) timed_total += count;
  std::vector<std::unique_ptr<Timed>> timed;
  for (const std::int64_t count : traffic.timed) {
    if (count == 0) continue;
    // Off the common beat, as cores are.
    const std::int64_t interval = traffic.simulated_ps / count - static_cast<std::int64_t>(timed.size() % 97);
    const auto asks = static_cast<std::int64_t>(static_cast<double>(to_ask) * static_cast<double>(count) /
                                                static_cast<double>(timed_total));
    timed.push_back(
        std::make_unique<Timed>(("timed" + std::to_string(timed.size())).c_str(), count, interval, others, asks));
  }
  const double start = processor_seconds();
  sc_core::sc_start();
  Bare bare;
  bare.seconds = processor_seconds() - start;
  for (const auto& module : asked) bare.activations += module->activations;
  for (const auto& module : timed) bare.activations += module->activations;
  return bare;
}

struct Modules {
  double seconds = 0;
  std::uint64_t result = 0;  ///< of all times by cause
  Traffic traffic;
};

Modules run_modules(const Chip& chip, const Slice& slice, const SimulationOptions& options) {
  Modules result;
  const double start = processor_seconds();
  const SimulationContext context;
  const ChipTrace trace;
  sim::ChipModule module("chip0", chip, slice, options, trace);
  sc_core::sc_start();
  result.seconds = processor_seconds() - start;
  Traffic& traffic = result.traffic;
  std::int64_t rest = module.activations();
  for (const auto& core : module.tensor_cores()) traffic.timed.push_back(core->stats().activations);
  for (const auto& core : module.vector_cores()) traffic.timed.push_back(core->stats().activations);
  for (const std::int64_t count : traffic.timed) rest -= count;
  traffic.asked.push_back(module.global_buffer().stats().activations);
  rest -= traffic.asked.back();
  for (const auto& stack : module.hbm()) {
    traffic.asked.push_back(stack->stats().activations);
    rest -= traffic.asked.back();
  }
  const std::int64_t engines = chip.dma.engines + 1;  // and the command processor
  for (std::int64_t i = 0; i < engines; ++i) traffic.asked.push_back(rest / engines);
  std::uint64_t sum = 14695981039346656037ULL;
  for (const auto& done : module.command_processor().results()) {
    traffic.simulated_ps = std::max(traffic.simulated_ps, static_cast<std::int64_t>(done.end.count()));
    sum = (sum ^ static_cast<std::uint64_t>(done.end.count())) * 1099511628211ULL;
    for (const Picoseconds part : done.by_cause.part)
      sum = (sum ^ static_cast<std::uint64_t>(part.count())) * 1099511628211ULL;
  }
  result.result = sum;
  return result;
}

std::vector<std::int32_t> layer_slices(const Program& program) {
  std::vector<std::int32_t> result;
  for (const LayerProgram& layer : program.layers) {
    if (layer.name != "block") continue;
    for (const auto& steps : {layer.forward, layer.backward}) {
      for (const Step& step : steps) {
        if (const auto* compute = std::get_if<ComputeStep>(&step)) result.push_back(compute->slice);
      }
    }
  }
  return result;
}

struct Case {
  const char* model;
  const char* chip;
  std::int64_t tp;
  std::int64_t sequence;
};

void run(const Case& what, const SimulationOptions& options) {
  const std::string root = TANDEM_SOURCE_DIR "/configs/";
  const Chip chip = load_chip(root + "chip/" + what.chip + ".yaml");
  const TransformerModel model = load_model(root + "model/" + what.model + ".json");
  Plan plan;
  plan.tp = what.tp;
  plan.global_batch = 1;
  plan.sequence = what.sequence;
  plan.stage_layers = {model.layers};
  Program program = build_program(model, plan);
  map_program(chip, program);
  fmt::print("{} tp {} on {}, one layer forward and backward, {} tokens\n", what.model, what.tp, what.chip,
             what.sequence);
  double ours = 0;
  double ours_folded = 0;
  double bare = 0;
  std::int64_t activations = 0;
  std::int64_t bare_activations = 0;
  for (const std::int32_t index : layer_slices(program)) {
    const Slice& slice = program.slices[static_cast<std::size_t>(index)];
    SimulationOptions unfolded = options;
    unfolded.fold = Fold::off;
    const Modules modules = run_modules(chip, slice, unfolded);
    const Modules folded = run_modules(chip, slice, options);
    if (folded.result != modules.result) throw std::logic_error("folded and unfolded differ");
    const Bare kernel = run_bare(modules.traffic);
    const auto events = modules.traffic.total();
    fmt::print(
        "  {:42} {:9} events {:7.1f} ms {:4.0f} ns/event (bare {:4.0f}); folded {:9} events {:7.1f} ms; {:016x}\n",
        slice.name, events, modules.seconds * 1e3, modules.seconds * 1e9 / static_cast<double>(events),
        kernel.seconds * 1e9 / static_cast<double>(kernel.activations), folded.traffic.total(), folded.seconds * 1e3,
        modules.result);
    ours += modules.seconds;
    ours_folded += folded.seconds;
    bare += kernel.seconds;
    activations += events;
    bare_activations += kernel.activations;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double ours_each = ours * 1e9 / static_cast<double>(activations);
  const double bare_each = bare * 1e9 / static_cast<double>(bare_activations);
  fmt::print(
      "  layer: {} events, modules {:.3f} s, {:.0f} ns/event; folded {:.3f} s; bare kernel {:.0f} ns/event; "
      "ratio {:.2f}; {:.0f} MiB at most\n",
      activations, ours, ours_each, ours_folded, bare_each, ours_each / bare_each,
      static_cast<double>(usage.ru_maxrss) / 1024.0);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  for (const tandem::Case& what :
       {tandem::Case{"gpt3-175b", "a100-80gb", 8, 2048}, tandem::Case{"llama2-7b", "tpu-v4", 1, 4096}}) {
    if (only.empty() || only == what.model) tandem::run(what, {});
  }
  return 0;
}
