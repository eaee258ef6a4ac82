// SPDX-License-Identifier: Apache-2.0
// The simulator's front door. Builds a SystemC simulation, runs it, and reads the answer; one at a time per process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/cluster.h"
#include "arch/support/enum_names.h"
#include "workloads/answer.h"
#include "workloads/collectives.h"
#include "workloads/program.h"

namespace tandem {

enum class Detail { summary, operators, tile, transaction };

template <>
struct EnumNames<Detail> {
  static constexpr auto values =
      std::to_array<std::pair<Detail, std::string_view>>({{Detail::summary, "summary"},
                                                          {Detail::operators, "operator"},
                                                          {Detail::tile, "tile"},
                                                          {Detail::transaction, "transaction"}});
};

/// Effects that can be switched off to see what they cost.
struct Ideal {
  bool hbm = false;  ///< no latency, row misses, refresh; infinite bandwidth
  bool noc = false;
  bool links = false;
  bool launch = false;
};

/// Whether whole periods of tile loops are skipped once they have proved to repeat. The results are the same.
enum class Fold { off, on };

class SliceMemo;

struct SimulationOptions {
  Detail detail = Detail::operators;
  std::optional<std::filesystem::path> trace;  ///< HDF5 file to write
  std::string command_line;                    ///< recorded in the trace
  std::uint64_t seed = 0;
  Fold fold = Fold::on;
  Ideal ideal;
  std::function<void(double fraction)> progress;  ///< called a few times a second at most
  std::function<bool()> cancelled;                ///< polled; true ends the run with files closed, `complete` 0
  SliceMemo* memo = nullptr;                      ///< runs of slices to take from and add to, where no trace is written
};

/// Thrown when no event is left though work remains: says who waits for what. Exit code 3.
class DeadlockError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// Thrown after a cancelled run has closed its files.
class CancelledError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One training iteration. `program` must be mapped. `predicted`, if given, goes into the trace beside the simulation.
Answer simulate(const Cluster& cluster, const Program& program, const SimulationOptions& options = {},
                const Answer* predicted = nullptr);

/// One slice on one chip, from idle.
SliceAnswer simulate_slice(const Chip& chip, const Slice& slice, std::vector<OperatorAnswer>* operators = nullptr,
                           const SimulationOptions& options = {});

/// One operator on one chip, from idle; launch overhead of the device included.
OperatorAnswer simulate_operator(const Chip& chip, const Operator& op, const Mapping& mapping,
                                 const SimulationOptions& options = {});

/// One collective on otherwise idle links.
Picoseconds simulate_collective(const Cluster& cluster, std::span<const std::int64_t> ranks,
                                const Collective& collective, const SimulationOptions& options = {});

}  // namespace tandem
