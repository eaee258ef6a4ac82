// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "sim/chip/global_buffer.h"
#include "sim/chip/operator_run.h"
#include "sim/chip/tracer.h"
#include "sim/kernel/timed_queue.h"
#include "workloads/mapping.h"

namespace tandem::sim {

/// Starts operators in the order of the schedule: each when its inputs are ready, when every earlier operator that
/// shares a core with it has ended, and when the global buffer has room for its blocks. Then delivers their events.
class CommandProcessor : public sc_core::sc_module, public RunMailbox {
 public:
  /// One operator, by position in the schedule.
  struct Command {
    std::string name;
    CoreRange tensor_cores, vector_cores;
    bool is_matmul = true;
    std::vector<std::int32_t> after;  ///< earlier positions: inputs, and users of the same cores
    Picoseconds launch{};
    Bytes global_buffer{};          ///< room taken while it runs
    TensorCore::Assignment tensor;  ///< source and index are filled in on start
    VectorCore::Assignment vector;
  };
  struct Result {
    Picoseconds start{}, end{};
    TimeByCause by_cause;           ///< of this operator; adds up to end - start
    std::int32_t released_by = -1;  ///< operator whose end let it start; -1: none
    bool started = false, ended = false;
  };

  CommandProcessor(sc_core::sc_module_name name, std::vector<Command> commands, GlobalBuffer& buffer, Tracer tracer);
  /// Once per command, before the simulation starts.
  void add_run(std::unique_ptr<OperatorRun> run, RunResources resources);
  /// Polled now and then; true stops the simulation.
  void set_watch(std::function<bool()> cancelled, std::function<void(double)> progress);
  void post(const RunEvent& event) override;

  [[nodiscard]] const std::vector<Result>& results() const { return results_; }
  [[nodiscard]] const OperatorRun& run(std::size_t position) const { return *runs_[position].run; }
  [[nodiscard]] bool finished() const { return ended_ == commands_.size(); }
  [[nodiscard]] bool was_cancelled() const { return was_cancelled_; }
  /// Who waits for what.
  [[nodiscard]] std::string unfinished() const;
  [[nodiscard]] std::int64_t activations() const { return activations_; }

 private:
  SC_HAS_PROCESS(CommandProcessor);
  struct Run {
    std::unique_ptr<OperatorRun> run;
    RunResources resources;
  };
  void process();
  void watch();
  void dispatch();
  [[nodiscard]] bool can_start(std::size_t position) const;
  void start(std::size_t position);
  void end(std::size_t position);

  std::vector<Command> commands_;
  GlobalBuffer& buffer_;
  Tracer tracer_;
  std::vector<Run> runs_;
  std::vector<Result> results_;
  std::size_t ended_ = 0, first_open_ = 0;
  std::int32_t last_ended_ = -1;
  TimedQueue<RunEvent> events_;
  std::function<bool()> cancelled_;
  std::function<void(double)> progress_;
  bool was_cancelled_ = false;
  std::int64_t activations_ = 0;
};

}  // namespace tandem::sim
