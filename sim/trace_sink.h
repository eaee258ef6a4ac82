// SPDX-License-Identifier: Apache-2.0
// What modules tell about a run; implemented by the HDF5 trace, by nothing, and by tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"
#include "workloads/memory.h"
#include "workloads/operator.h"

namespace tandem {

enum class EventKind {
  compute,
  vector,
  dma_read,
  dma_write,
  noc_read,
  noc_write,
  hbm_read,
  hbm_write,
  launch,
  forward,
  backward,
  collective,
  send,
  update,
  software
};

template <>
struct EnumNames<EventKind> {
  static constexpr auto values =
      std::to_array<std::pair<EventKind, std::string_view>>({{EventKind::compute, "compute"},
                                                             {EventKind::vector, "vector"},
                                                             {EventKind::dma_read, "dma_read"},
                                                             {EventKind::dma_write, "dma_write"},
                                                             {EventKind::noc_read, "noc_read"},
                                                             {EventKind::noc_write, "noc_write"},
                                                             {EventKind::hbm_read, "hbm_read"},
                                                             {EventKind::hbm_write, "hbm_write"},
                                                             {EventKind::launch, "launch"},
                                                             {EventKind::forward, "forward"},
                                                             {EventKind::backward, "backward"},
                                                             {EventKind::collective, "collective"},
                                                             {EventKind::send, "send"},
                                                             {EventKind::update, "update"},
                                                             {EventKind::software, "software"}});
};

struct TraceEvent {
  Picoseconds start{}, end{};
  std::int32_t unit = -1;       ///< id from add_unit
  std::int32_t operation = -1;  ///< id from add_operator; -1: none
  EventKind kind{};
  std::int32_t microbatch = -1;  ///< -1: none
  Bytes bytes{};
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// Units and operators are announced before the simulation starts. Returns their ids, from 0 in order.
  virtual std::int32_t add_unit(std::string_view name, std::string_view kind, std::int32_t parent) = 0;
  virtual std::int32_t add_operator(std::string_view slice, const Operator& op) = 0;
  virtual std::int32_t add_counter(std::string_view name, std::string_view unit) = 0;
  virtual void event(const TraceEvent& event) = 0;
  virtual void counter(std::int32_t id, Picoseconds at, double value) = 0;
  /// What one device of `unit` holds from `at` on. Not every sink keeps it.
  virtual void memory(Picoseconds /*at*/, std::int32_t /*unit*/, const MemoryFootprint& /*held*/) {}
  /// Slice `slice` of the program ran on `unit` from `start` on.
  virtual void slice_run(Picoseconds /*start*/, std::int32_t /*unit*/, std::int32_t /*slice*/,
                         std::int32_t /*microbatch*/) {}
};

}  // namespace tandem
