// SPDX-License-Identifier: Apache-2.0
// The HDF5 trace of a run (layout: docs/formats.md). Appended while the simulation runs, in bounded memory, in
// single-writer-multiple-reader mode: it can be read while it grows, and after a kill up to the last flush.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "arch/cluster.h"
#include "arch/support/hdf5.h"
#include "sim/cluster/cluster_simulation.h"
#include "sim/simulate.h"
#include "sim/trace_sink.h"
#include "workloads/answer.h"
#include "workloads/program.h"

namespace tandem {

class Hdf5Trace : public TraceSink {
 public:
  /// Creates the file with attributes, configuration and empty tables; `complete` is 0.
  Hdf5Trace(const std::filesystem::path& path, const Cluster& cluster, const Program& program,
            const SimulationOptions& options);

  /// A name that is known already gives the same id again.
  std::int32_t add_unit(std::string_view name, std::string_view kind, std::int32_t parent) override;
  std::int32_t add_operator(std::string_view slice, const Operator& op) override;
  /// Before start().
  std::int32_t add_counter(std::string_view name, std::string_view unit) override;
  void event(const TraceEvent& event) override;
  void counter(std::int32_t id, Picoseconds at, double value) override;
  void memory(Picoseconds at, std::int32_t unit, const MemoryFootprint& held) override;
  void slice_run(Picoseconds start, std::int32_t unit, std::int32_t slice, std::int32_t microbatch) override;

  /// From here on readers may follow; no new counters.
  void start();
  /// Events that follow belong to a slice of the program (times from its start), or to the cluster (-1).
  void events_of_slice(std::int32_t slice) { slice_ = slice; }
  void write_summary(const Answer& simulated, const Answer* predicted, const ClusterRun& run);
  /// All is written: marks the file complete.
  void complete();

 private:
  void create_tables(const Program& program);
  void write_config(const Cluster& cluster, const Program& program);
  void flush_if_due();
  void flush();
  template <typename E>
  void write_names(const std::string& enumeration);
  hdf5::TableWriter& table(const std::string& path) { return tables_.at(path); }

  hdf5::File file_;
  std::map<std::string, hdf5::TableWriter> tables_;  ///< by path
  hdf5::TableWriter* events_ = nullptr;
  hdf5::TableWriter* memory_ = nullptr;
  hdf5::TableWriter* slice_runs_ = nullptr;
  std::vector<hdf5::TableWriter*> slice_events_;
  std::vector<hdf5::TableWriter*> counters_;
  std::map<std::string, std::int32_t> counter_ids_, units_, operators_;
  std::int32_t slice_ = -1;
  bool started_ = false;
  std::int64_t since_flush_ = 0;
  std::chrono::steady_clock::time_point last_flush_;
};

}  // namespace tandem
