// SPDX-License-Identifier: Apache-2.0
// A chip as plain data: what the analytical model computes with and the simulator is built from.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/data_type.h"
#include "arch/hbm.h"
#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"

namespace tandem {

/// Which operand stays in the array while the others stream.
enum class Dataflow { weight_stationary, output_stationary, input_stationary };

template <>
struct EnumNames<Dataflow> {
  static constexpr auto values =
      std::to_array<std::pair<Dataflow, std::string_view>>({{Dataflow::weight_stationary, "weight_stationary"},
                                                            {Dataflow::weight_stationary, "ws"},
                                                            {Dataflow::output_stationary, "output_stationary"},
                                                            {Dataflow::output_stationary, "os"},
                                                            {Dataflow::input_stationary, "input_stationary"},
                                                            {Dataflow::input_stationary, "is"}});
};

/// `count` identical tensor cores; each holds `arrays` systolic arrays of rows x cols MACs that share the core's local
/// buffer and work on the same tile.
struct TensorCores {
  std::int64_t count = 0;
  std::int64_t arrays = 1;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Dataflow dataflow = Dataflow::weight_stationary;
  /// Next fold's stationary operand is loaded, and the last fold drained, while the present one streams.
  bool overlap_folds = true;
  /// On-array accumulators: partial sums over K stay in the core (else they are written back per K fold).
  bool accumulators = true;
  Bytes local_buffer{};         ///< per core
  Bandwidth local_bandwidth{};  ///< local buffer to arrays, per core; 0: as fast as the arrays need
  /// Share of the peak issue rate that long runs keep: the clock under the power limit, and issue slots lost.
  double sustained = 1;
  /// Operands whose rows are no whole multiple of this are loaded and stored in smaller pieces; 0: any row will do.
  Bytes row_alignment{};
  double misaligned = 1;  ///< share of the rate that is left then
  /// Of every output tile, before its first and after its last MAC, with nothing else on the core to hide it: start of
  /// the work, filling of the load pipeline, epilogue.
  Seconds task_overhead{};
  /// Output tiles (m x n) that kernels exist for, such as "256x128 128x128"; empty: any tile.
  std::string tiles{};
  /// MACs per cycle and PE by data type, relative to one; a type that is absent is not supported.
  std::map<DataType, double> macs_per_pe{};
};

/// Classes of element-wise work with a throughput of their own.
enum class VectorOp { simple, multiply_add, divide, exponential, reduce };

template <>
struct EnumNames<VectorOp> {
  static constexpr auto values = std::to_array<std::pair<VectorOp, std::string_view>>(
      {{VectorOp::simple, "simple"},              // add, compare, max, copy, convert
       {VectorOp::multiply_add, "multiply_add"},  // multiply or fused multiply-add
       {VectorOp::divide, "divide"},              // division, square root, reciprocal
       {VectorOp::exponential, "exponential"},    // exp, tanh, erf, log, sin
       {VectorOp::reduce, "reduce"}});            // one step of a reduction across a lane's own elements
};
inline constexpr std::size_t kVectorOps = 5;

/// `count` identical vector cores of `lanes` lanes.
struct VectorCores {
  std::int64_t count = 0;
  std::int64_t lanes = 0;
  Bytes local_buffer{};         ///< per core
  Bandwidth local_bandwidth{};  ///< per core; 0: as fast as the lanes need
  /// The buffer is the one that the tensor cores have (a GPU's SM, a TPU's VMEM): its area counts once.
  bool shares_local_buffer = false;
  /// Operations per lane and cycle, indexed by VectorOp.
  std::array<double, kVectorOps> throughput{1, 1, 0.25, 0.125, 1};
  /// Of the software's kernels that give a whole row to one core: cycles of a lane per element by operator kind,
  /// forward pass, all their instructions counted. Kinds that are absent cut rows as they like, and take what the
  /// classes say.
  std::map<std::string, double> row_kernels{};
};

/// The chip's shared scratchpad.
struct GlobalBuffer {
  Bytes capacity{};
  std::int64_t banks = 1;
  Bandwidth bandwidth{};  ///< all banks together, each direction
  Seconds latency{};
};

/// Between the global buffer and the cores.
struct Noc {
  Bandwidth port_bandwidth{};  ///< into, and out of, one core
  Seconds latency{};
  bool multicast = true;  ///< one read of the global buffer can feed several cores
};

/// Between HBM and the global buffer.
struct Dma {
  std::int64_t engines = 1;
  Seconds setup{};          ///< per 2-D transfer
  Bytes max_outstanding{};  ///< in flight per engine; bounds latency-limited bandwidth
};

/// Time that one operator costs before its first command runs. `device` is always paid (kernel start on the chip);
/// `host` (launch from the host, and waiting for its end) only where operators are timed from the host.
struct LaunchOverhead {
  Seconds device_tensor{};  ///< operators on tensor cores
  Seconds device_vector{};
  /// By operator kind ("matmul", "softmax", ...; "other" for the rest).
  std::map<std::string, Seconds> host{};
};

struct Chip {
  std::string name;
  Frequency clock{};
  TensorCores tensor;
  VectorCores vector;
  GlobalBuffer glb;
  Noc noc;
  Dma dma;
  Hbm hbm;
  LaunchOverhead launch;
  std::string technology;  ///< name of a file under configs/technology
  Power tdp{};             ///< 0: not stated

  [[nodiscard]] bool supports(DataType type) const { return tensor.macs_per_pe.contains(type); }
  /// MACs per cycle of one tensor core; 0 for an unsupported type.
  [[nodiscard]] double core_macs_per_cycle(DataType type) const;
  /// Rate at which the arrays of a busy chip step.
  [[nodiscard]] Frequency tensor_clock() const { return clock * tensor.sustained; }
  /// Dense peak of all tensor cores (2 FLOP a MAC); 0 for an unsupported type.
  [[nodiscard]] FlopRate peak(DataType type) const;
  /// All vector cores, multiply-add class, one FLOP an operation.
  [[nodiscard]] FlopRate vector_peak() const;
  /// FLOP per HBM byte at which peak compute and HBM bandwidth balance.
  [[nodiscard]] double ridge_point(DataType type) const;
};

/// Output tile shapes of a list such as "256x128 128x128", in its order; nullopt if it is not one.
struct OutputTile {
  std::int64_t m = 0, n = 0;
};
std::optional<std::vector<OutputTile>> output_tiles(std::string_view list);

}  // namespace tandem
