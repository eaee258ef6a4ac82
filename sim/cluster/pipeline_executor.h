// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "sim/cluster/collective_engine.h"
#include "sim/cluster/communicators.h"
#include "sim/cluster/run_control.h"
#include "sim/cluster/timeline.h"
#include "sim/network/network.h"
#include "sim/trace_sink.h"
#include "workloads/pipeline.h"

namespace tandem {

/// What one (virtual) stage is to its executor.
struct ExecutorStage {
  std::int64_t stage = 0;  ///< in model order
  const StageTimelines* timelines = nullptr;
  Bytes send_forward{}, send_backward{};
};

struct ExecutorSpec {
  std::string name;
  std::vector<std::int64_t> devices;  ///< tensor-parallel ranks, in lock step
  std::int64_t microbatches = 0, total_stages = 0;
  std::vector<PipelineTask> tasks;
  std::vector<ExecutorStage> stages;  ///< by chunk
  MemoryFootprint memory;             ///< peak of each category
  std::int64_t in_flight = 1;         ///< most microbatch-chunks whose activations are held at once
  Picoseconds send_overhead{};
  bool blocking_sends = false;   ///< the next task waits until what was sent has arrived
  bool splits_backward = false;  ///< weight tasks let go of the activations
  std::int32_t unit = -1;  ///< in the trace
};

/// Time series of the whole cluster, kept by its executors together.
struct ClusterCounters {
  TraceSink* sink = nullptr;
  std::int32_t working = -1;   ///< pipeline positions in a forward or backward
  std::int32_t messages = -1;  ///< under way
  std::int64_t working_now = 0;

  void record(std::int64_t change, const Network& network);
};

/// One pipeline position of one pipeline: the devices that share its work by tensor parallelism. Plays its list of
/// tasks; a task begins when the one before has ended and its input has arrived from the neighbour, and ends by sending
/// its output on, which holds up the next task only if sends block.
class PipelineExecutor : public sc_core::sc_module, private MessageReceiver, private CollectiveClient {
 public:
  struct Stats {
    TimeByCause by_cause;  ///< adds up to `end`
    Picoseconds busy{};    ///< computing or in a collective
    Picoseconds forward{}, backward{};
    Picoseconds layers_end{};  ///< of the last backward
    Picoseconds end{};
  };

  PipelineExecutor(sc_core::sc_module_name name, ExecutorSpec spec, Network& network, CollectiveEngine& collectives,
                   const Communicators& communicators, RunControl& control, ClusterCounters& counters);

  /// The executors that stages after and before this position's run on. Before the start.
  void bind(PipelineExecutor& next, PipelineExecutor& previous) {
    next_ = &next;
    previous_ = &previous;
  }

  [[nodiscard]] bool finished() const { return phase_ == Phase::finished; }
  /// "stage 1 (devices 8-15) waits for activations of microbatch 3 from stage 0"
  [[nodiscard]] std::string waits_for() const;
  [[nodiscard]] const Stats& stats() const { return stats_; }
  [[nodiscard]] const ExecutorSpec& spec() const { return spec_; }

 private:
  enum class Phase { next_task, receiving, next_segment, busy, in_collective, sending, draining, finished };
  struct Arrival {
    std::int64_t missing = 0;
    Picoseconds sent{}, arrived{};
  };

  void delivered(const Delivery& delivery) override;
  void collective_done(const CollectiveOutcome& outcome) override;

  void wake();
  void run();
  /// One step of the state machine; false when there is something to wait for.
  bool step();
  bool wait();
  void wake_if(bool ready);
  bool begin_task();
  void start_segments(const Timeline& timeline);
  bool begin_segment();
  bool end_busy();
  bool end_collective();
  bool end_timeline();
  bool end_sending();
  void sent(const Delivery& delivery);
  [[nodiscard]] const Timeline& timeline_of(const PipelineTask& task) const;
  void end_task();
  bool begin_after();
  bool end_drain();
  void join(const Segment& segment, std::int64_t token);
  void start_bucket();
  void send(PipelineExecutor& to, TaskKind kind, std::int64_t microbatch, std::int64_t stage, Bytes bytes);
  void account_receive(const Arrival& input);
  void account_collective(Axis axis);
  void record(EventKind kind, Picoseconds start, std::int64_t microbatch, Bytes bytes) const;
  void record_slices(const Segment& segment) const;
  void record_memory() const;
  [[nodiscard]] bool needs_input(const PipelineTask& task) const;
  [[nodiscard]] const ExecutorStage& stage_of(const PipelineTask& task) const {
    return spec_.stages[static_cast<std::size_t>(task.chunk)];
  }
  Arrival& arrival(TaskKind kind, std::int64_t microbatch, std::int64_t chunk) {
    return arrivals_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(chunk * spec_.microbatches + microbatch)];
  }

  ExecutorSpec spec_;
  Network& network_;
  CollectiveEngine& collectives_;
  const Communicators& communicators_;
  RunControl& control_;
  ClusterCounters& counters_;
  TraceSink* sink_;
  PipelineExecutor* next_ = nullptr;
  PipelineExecutor* previous_ = nullptr;
  sc_core::sc_event wake_;

  Phase phase_ = Phase::next_task;
  bool waiting_ = false;  ///< for a message or a collective; nothing is notified
  std::size_t task_ = 0;
  std::size_t after_stage_ = 0;
  const Timeline* timeline_ = nullptr;
  std::size_t segment_ = 0;
  Picoseconds since_{};       ///< when the present phase began
  Picoseconds task_start_{};  ///< of the present task, waiting for input left out
  std::int32_t members_in_collective_ = 0;
  CollectiveOutcome outcome_;     ///< of the last member that was done
  std::vector<Segment> buckets_;  ///< waiting; the front one under way while members_in_bucket_ > 0
  std::size_t next_bucket_ = 0;
  Picoseconds bucket_since_{};
  std::int32_t members_in_bucket_ = 0;
  std::int64_t unsent_ = 0;                   ///< messages of the last task that have not arrived
  Picoseconds sent_at_{};                     ///< when the last message left
  std::vector<std::int64_t> backwards_left_;  ///< by chunk
  std::int64_t held_ = 0;                     ///< microbatch-chunks with activations in memory
  std::array<std::vector<Arrival>, 2> arrivals_;
  Stats stats_;
};

}  // namespace tandem
