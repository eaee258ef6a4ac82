// SPDX-License-Identifier: Apache-2.0
// What prediction and simulation both say, in the same terms at every level.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/area.h"
#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"
#include "workloads/memory.h"
#include "workloads/operator.h"
#include "workloads/plan.h"

namespace tandem {

/// Why time passed, along the critical path.
enum class Cause {
  compute,
  tile_quantisation,
  fill_drain,
  vector_compute,
  hbm_bandwidth,
  hbm_overhead,
  noc,
  buffer_stall,
  launch,
  dependency,
  tensor_communication,
  pipeline_communication,
  data_communication,
  bubble,
  software
};
inline constexpr std::size_t kCauses = 15;

template <>
struct EnumNames<Cause> {
  static constexpr auto values =
      std::to_array<std::pair<Cause, std::string_view>>({{Cause::compute, "compute"},
                                                         {Cause::tile_quantisation, "tile_quantisation"},
                                                         {Cause::fill_drain, "fill_drain"},
                                                         {Cause::vector_compute, "vector_compute"},
                                                         {Cause::hbm_bandwidth, "hbm_bandwidth"},
                                                         {Cause::hbm_overhead, "hbm_overhead"},
                                                         {Cause::noc, "noc"},
                                                         {Cause::buffer_stall, "buffer_stall"},
                                                         {Cause::launch, "launch"},
                                                         {Cause::dependency, "dependency"},
                                                         {Cause::tensor_communication, "tensor_communication"},
                                                         {Cause::pipeline_communication, "pipeline_communication"},
                                                         {Cause::data_communication, "data_communication"},
                                                         {Cause::bubble, "bubble"},
                                                         {Cause::software, "software"}});
};

/// What time in a collective counts as: along the tensor, context and expert axes (activations inside layers) tensor
/// communication, along the pipeline pipeline communication, along the others (parameters and gradients) data
/// communication.
Cause cause_of(Axis axis);

/// Parts of a time; they add up to it exactly.
struct TimeByCause {
  std::array<Picoseconds, kCauses> part{};

  Picoseconds& operator[](Cause cause) { return part[static_cast<std::size_t>(cause)]; }
  Picoseconds operator[](Cause cause) const { return part[static_cast<std::size_t>(cause)]; }
  TimeByCause& operator+=(const TimeByCause& other);
  [[nodiscard]] TimeByCause times(std::int64_t n) const;
  [[nodiscard]] Picoseconds total() const;
};

struct OperatorAnswer {
  std::string slice, name;
  OperatorKind kind{};
  Pass pass{};
  Picoseconds start{};  ///< within its slice
  Picoseconds time{};
  TimeByCause by_cause;  ///< adds up to `time`
  Flops flops{};
  Bytes hbm_bytes{};       ///< moved
  double utilisation = 0;  ///< of the tensor cores' (vector cores' for vector kinds) peak, over `time`
  AccessCounts accesses;
};

struct SliceAnswer {
  std::string name;
  Picoseconds time{};
  TimeByCause by_cause;
  Picoseconds host{};  ///< that the host needs to launch the operators, one after another
};

/// What a device that has worked for `device` still waits for its host, which has needed `host` to launch that work.
inline Picoseconds host_wait(Picoseconds device, Picoseconds host) { return std::max(Picoseconds(0), host - device); }

struct LayerAnswer {
  std::string name;
  Picoseconds forward{}, backward{};  ///< one microbatch, collectives included
  TimeByCause by_cause;               ///< forward + backward
};

struct StageAnswer {
  Picoseconds forward{}, backward{};  ///< one microbatch
  Picoseconds busy{};                 ///< computing or in a collective, over the iteration
  TimeByCause by_cause;               ///< of the iteration as seen by this stage's first device; adds up to its time
  MemoryFootprint memory;
};

struct IterationAnswer {
  Picoseconds time{};
  TimeByCause by_cause;  ///< adds up to `time`
  double tokens_per_second = 0;
  double mfu = 0;  ///< model FLOPs over dense peak of all devices; a fraction
};

struct Answer {
  std::vector<OperatorAnswer> operators;  ///< of all slices
  std::vector<SliceAnswer> slices;        ///< by Program::slices
  std::vector<LayerAnswer> layers;        ///< by Program::layers
  std::vector<StageAnswer> stages;        ///< by pipeline device
  IterationAnswer iteration;
  std::vector<std::string> assumptions;  ///< in force, for the report
};

}  // namespace tandem
