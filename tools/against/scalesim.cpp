// SPDX-License-Identifier: Apache-2.0
// Runs of SCALE-Sim (Samajdar et al., arXiv 1811.02883): a GEMM, or a convolution as one, on one systolic array.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "search/mapper.h"
#include "search/predict.h"
#include "sim/simulate.h"
#include "tools/against/machines.h"
#include "workloads/array_accesses.h"
#include "workloads/convolution.h"

namespace tandem {
namespace {

/// One run as its row describes it.
struct Run {
  Chip chip;
  Operator gemm;
  bool has_bandwidth = false;  ///< USER mode; else no access ever waits
  TileShape fold;              ///< what the array holds at once, and all that streams past
  std::int64_t folds = 0, folds_of_k = 1;
};

bool has_finite_bandwidth(const CsvRow& row) {
  if (!row.has("mode")) return false;
  const std::string mode = row.text("mode");
  if (mode != "CALC" && mode != "USER") throw RowFailure("unknown mode", mode);
  return mode == "USER";
}

/// The array of the row under the policies of the chip: the parity chip's unless another is given.
Chip chip_of(const CsvRow& row, const MachineOverride& machine) {
  Chip chip = chip_of_row("SCALE-Sim", machine);
  const auto dataflow = enum_from_name<Dataflow>(row.text("dataflow"));
  if (!dataflow) throw RowFailure("unknown dataflow", row.text("dataflow"));
  chip.tensor.count = chip.tensor.arrays = 1;
  chip.tensor.rows = row.integer("array_rows");
  chip.tensor.cols = row.integer("array_cols");
  chip.tensor.dataflow = *dataflow;
  if (chip.tensor.rows < 1 || chip.tensor.cols < 1) {
    throw RowFailure("the row does not describe a sound case", "rows and columns must be positive");
  }
  return chip;
}

/// Memories that hold anything and never make the array wait.
void make_ideal(Chip& chip) {
  constexpr std::int64_t kAnything = std::int64_t{1} << 50;
  chip.tensor.local_buffer = chip.glb.capacity = Bytes(kAnything);
  chip.tensor.local_bandwidth = Bandwidth(0);
}

/// Three SRAMs as one buffer, and their ports to DRAM as one of the same rate in all.
void set_memory(Chip& chip, const CsvRow& row) {
  constexpr std::int64_t kKilobyte = 1024, kSrams = 3;
  chip.tensor.local_buffer = chip.glb.capacity = Bytes(checked_product(kSrams, kKilobyte, row.integer("sram_kB_each")));
  const double read = row.maybe_number("read_bw_words_per_cycle").value_or(row.number("bandwidth_cfg_words_per_cycle"));
  const double words = 2 * read + row.number("bandwidth_cfg_words_per_cycle");
  if (!(words > 0)) throw RowFailure("the row does not describe a sound case", "bandwidth must be positive");
  chip.hbm.bandwidth = Bandwidth(words * chip.tensor_clock().value());
}

TileShape fold_of(const TensorCores& cores, const MatmulShape& gemm) {
  const auto& [rows, cols] = std::tie(cores.rows, cores.cols);
  switch (cores.dataflow) {
    case Dataflow::weight_stationary: return {gemm.m, std::min(gemm.n, cols), std::min(gemm.k, rows)};
    case Dataflow::input_stationary: return {std::min(gemm.m, cols), gemm.n, std::min(gemm.k, rows)};
    case Dataflow::output_stationary: return {std::min(gemm.m, rows), std::min(gemm.n, cols), gemm.k};
  }
  throw std::invalid_argument("unknown dataflow");
}

Run run_of(const CsvRow& row, const MachineOverride& machine) {
  if (row.has("status") && row.text("status") != "ok") throw RowFailure("the run did not finish", row.text("status"));
  Run run;
  run.chip = chip_of(row, machine);
  run.has_bandwidth = has_finite_bandwidth(row);
  if (!run.chip.supports(DataType::int8)) throw RowFailure("data type not supported by the chip", "int8");
  const MatmulShape shape{1, row.integer("M"), row.integer("N"), row.integer("K")};
  if (shape.m < 1 || shape.n < 1 || shape.k < 1) {
    throw RowFailure("the row does not describe a sound case", "M, N and K must be positive");
  }
  run.gemm = make_matmul("gemm", shape, DataType::int8);
  run.fold = fold_of(run.chip.tensor, shape);
  run.folds_of_k = ceil_div(shape.k, run.fold.k);
  run.folds = checked_product(ceil_div(shape.m, run.fold.m), ceil_div(shape.n, run.fold.n), run.folds_of_k);
  if (run.has_bandwidth) {
    set_memory(run.chip, row);
  } else {
    make_ideal(run.chip);
    for (Operand& operand : run.gemm.inputs) operand.where = Residency::core;
    for (Operand& operand : run.gemm.outputs) operand.where = Residency::core;
  }
  return run;
}

/// Fold by fold where nothing limits the tile, else as the mapper cuts it.
Mapping mapping_of(const Run& run) {
  if (run.has_bandwidth) return map_operator(run.chip, run.gemm);
  Mapping mapping;
  mapping.matmul.block = {run.gemm.matmul.m, run.gemm.matmul.n, run.gemm.matmul.k};
  mapping.matmul.tile = run.fold;
  mapping.tensor_cores = {0, 1};
  mapping.vector_cores = {0, 1};
  return mapping;
}

double cycles_of(const Run& run, Picoseconds time) {
  return std::round(to_seconds(time).count() * run.chip.tensor_clock().value());
}

double stall_free_cycles(const Run& run) {
  const auto& [batch, m, n, k] = run.gemm.matmul;
  return static_cast<double>(tile_cycles(run.chip.tensor, DataType::int8, {m, n, k}).total.value());
}

/// Words through the array's side of the SRAMs, as SCALE-Sim should have counted them: with stationary outputs it
/// counts rows + columns writes per fold of which there are none.
struct PeerAccesses {
  double ifmap_reads = 0, filter_reads = 0, ofmap_writes = 0;
};
PeerAccesses peer_accesses(const CsvRow& row, const Run& run) {
  const TensorCores& cores = run.chip.tensor;
  const bool has_phantoms = cores.dataflow == Dataflow::output_stationary;
  const std::int64_t phantoms = has_phantoms ? checked_product(run.folds, cores.rows + cores.cols) : 0;
  return {row.number("sram_ifmap_reads"), row.number("sram_filter_reads"),
          row.number("sram_ofmap_writes") - static_cast<double>(phantoms)};
}

/// A port of one operand to DRAM, at its own full rate in SCALE-Sim.
struct Port {
  std::string name;
  double words = 0;     ///< moved
  double distinct = 0;  ///< of the operand
  double cycles = 0;    ///< that it needs
};

/// Times of the ports for the run's own DRAM counts. What the buffer takes in before the array starts (half of it), or
/// keeps when it is done (all of it), does not show.
std::vector<Port> ports_of(const CsvRow& row, const Run& run) {
  constexpr double kKilobyte = 1024;
  const double buffer = kKilobyte * row.number("sram_kB_each");
  const double write = row.number("bandwidth_cfg_words_per_cycle");
  const double read = row.maybe_number("read_bw_words_per_cycle").value_or(write);
  const auto& [batch, m, n, k] = run.gemm.matmul;
  const auto port = [](std::string name, double words, std::int64_t distinct, double hidden, double rate) {
    return Port{std::move(name), words, static_cast<double>(distinct), std::max(0.0, words - hidden) / rate};
  };
  std::int64_t ifmap = checked_product(m, k);
  if (row.has("conv_ih")) {
    ifmap = std::min(ifmap, checked_product(row.integer("conv_ih"), row.integer("conv_iw"), row.integer("conv_c")));
  }
  return {port("ifmap", row.number("dram_ifmap_reads"), ifmap, buffer / 2, read),
          port("filter", row.number("dram_filter_reads"), checked_product(k, n), buffer / 2, read),
          port("ofmap", row.number("dram_ofmap_writes"), checked_product(m, n), buffer, write)};
}

double cycles_by_ports(const CsvRow& row, const Run& run) {
  double cycles = stall_free_cycles(run);
  for (const Port& port : ports_of(row, run)) cycles = std::max(cycles, port.cycles);
  return cycles;
}

void add_policy_causes(const Run& run, std::vector<std::string>& causes) {
  if (run.chip.tensor.overlap_folds) causes.emplace_back("folds overlap here, one after another there");
  if (run.chip.tensor.dataflow == Dataflow::output_stationary) {
    causes.push_back(fmt::format("{} writes per fold that no result needs are taken off theirs",
                                 run.chip.tensor.rows + run.chip.tensor.cols));
  } else if (run.folds_of_k > 1) {
    causes.push_back(fmt::format("partial sums of {} folds over K are {} there, and never read back", run.folds_of_k,
                                 run.chip.tensor.accumulators ? "kept here, written" : "written here and"));
  }
}

/// SCALE-Sim rounds the output of a strided convolution up, so that its last window leaves the input.
void add_convolution_causes(const CsvRow& row, const Run& run, std::vector<std::string>& causes) {
  if (!row.has("conv_ih")) return;
  const std::int64_t stride = row.integer("conv_stride");
  const std::int64_t height = outputs_along({row.integer("conv_ih"), row.integer("conv_fh"), stride});
  const std::int64_t width = outputs_along({row.integer("conv_iw"), row.integer("conv_fw"), stride});
  const std::int64_t sound = checked_product(height, width);
  if (sound == run.gemm.matmul.m) return;
  TileShape shape{sound, run.gemm.matmul.n, run.gemm.matmul.k};
  causes.push_back(fmt::format("its output of {} positions is rounded up: {} x {} lie in the input, {} cycles here",
                               run.gemm.matmul.m, height, width,
                               tile_cycles(run.chip.tensor, DataType::int8, shape).total.value()));
}

void add_bandwidth_causes(const CsvRow& row, const Run& run, const TileShape& tile, std::vector<std::string>& causes) {
  constexpr double kRefetched = 1.05, kShown = 0.005;
  const std::vector<Port> ports = ports_of(row, run);
  const auto slowest =
      std::max_element(ports.begin(), ports.end(), [](const Port& a, const Port& b) { return a.cycles < b.cycles; });
  const double stall_free = stall_free_cycles(run);
  const double bound = std::max(stall_free, slowest->cycles);
  causes.push_back(slowest->cycles > stall_free ? fmt::format("its {} port binds: {:.0f} cycles of {:.0f} words",
                                                              slowest->name, slowest->cycles, slowest->words)
                                                : fmt::format("the array binds: {:.0f} cycles", stall_free));
  for (const Port& port : ports) {
    if (port.words > kRefetched * port.distinct) {
      causes.push_back(fmt::format("it moves {} {:.1f} times", port.name, port.words / port.distinct));
    }
  }
  causes.push_back(fmt::format("tiles of {} x {} x {} here, each with a fill of its own", tile.m, tile.n, tile.k));
  causes.emplace_back("ports at the full rate each there, one memory of their sum here");
  const double rest = (row.number("total_cycles") + 1) / bound - 1;
  if (rest > kShown) {
    causes.push_back(fmt::format("{:.1f} % above its own bound: stalls where its prefetch falls behind{}", 100 * rest,
                                 row.text("simulator") == "v2" ? "" : ", added twice"));
  }
  causes.emplace_back("initial fill not in its total");
}

RowAnswer evaluate(const CsvRow& row, const MachineOverride& machine, const SimulationOptions* options) {
  const Run run = run_of(row, machine);
  const Mapping mapping = mapping_of(run);
  const OperatorAnswer predicted = predict_operator(run.chip, run.gemm, mapping);
  const auto& [batch, m, n, k] = run.gemm.matmul;
  const ArrayAccesses words = array_accesses(run.chip.tensor, {m, n, k});
  const PeerAccesses peer = peer_accesses(row, run);
  const double reference = row.number("total_cycles") + 1;  // it reports the last cycle's index
  RowAnswer answer;
  answer.machine =
      fmt::format("{} {}x{} {}", run.chip.name, run.chip.tensor.rows, run.chip.tensor.cols, row.text("dataflow"));
  answer.metrics = {{"cycles", cycles_of(run, predicted.time), NAN, reference},
                    {"ifmap_reads", static_cast<double>(words.a_reads), NAN, peer.ifmap_reads},
                    {"filter_reads", static_cast<double>(words.b_reads), NAN, peer.filter_reads},
                    {"ofmap_writes", static_cast<double>(words.c_writes), NAN, peer.ofmap_writes}};
  // Bytes tell operands and partial sums apart by their size alone.
  RowMetric sram{"sram_bytes", static_cast<double>(predicted.accesses.local.value()), NAN,
                 peer.ifmap_reads + peer.filter_reads + static_cast<double>(kPartialSum.value()) * peer.ofmap_writes};
  if (options != nullptr) {
    const OperatorAnswer simulated = simulate_operator(run.chip, run.gemm, mapping, *options);
    answer.metrics.front().simulated = cycles_of(run, simulated.time);
    sram.simulated = static_cast<double>(simulated.accesses.local.value());
  }
  if (!row.has("mode")) answer.assumed.emplace_back("memory never waits");
  add_policy_causes(run, answer.causes);
  add_convolution_causes(row, run, answer.causes);
  if (run.has_bandwidth) {
    answer.metrics.push_back({"cycles_by_ports", cycles_by_ports(row, run), NAN, reference});
    add_bandwidth_causes(row, run, mapping.matmul.tile, answer.causes);
  } else {
    answer.metrics.push_back(sram);
  }
  return answer;
}

}  // namespace

ReferenceKind scalesim_kind() {
  return {"scalesim",
          {"array_rows", "array_cols", "dataflow", "M", "N", "K", "total_cycles", "sram_ifmap_reads"},
          {"mode", "dataflow"},
          evaluate};
}

}  // namespace tandem
