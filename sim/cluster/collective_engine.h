// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "arch/cluster.h"
#include "sim/cluster/collective_plan.h"
#include "sim/network/network.h"

namespace tandem {

/// A member's end of a collective.
struct CollectiveOutcome {
  std::int32_t group = 0, member = 0;
  std::int64_t token = 0;   ///< what the member joined with
  Picoseconds last_join{};  ///< when the last member of the group came
  Picoseconds software{};   ///< overheads on the way
};

class CollectiveClient {
 public:
  virtual ~CollectiveClient() = default;
  virtual void collective_done(const CollectiveOutcome& outcome) = 0;
};

/// Members of a group called different collectives at the same place of their order.
class CollectiveMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How long a collective of a group takes as one flow; nothing where it is to be played step by step.
using FlowTimes = std::function<std::optional<CollectiveTime>(std::int32_t group, const Collective&)>;

/// Plays collectives step by step over the network. The n-th call of one member of a group meets the n-th calls of the
/// others. A member begins a step when it has received all that the step before sends to it, or, if that sends it
/// nothing, when its own sends have arrived; it pays the step overhead first, and the collective overhead before its
/// first step.
class CollectiveEngine : public sc_core::sc_module, private MessageReceiver {
 public:
  /// With `flow_times`, collectives that it knows end that long after their last member has come.
  CollectiveEngine(sc_core::sc_module_name name, const CommunicationOverhead& overhead, Network& network,
                   CollectivePlans& plans, FlowTimes flow_times = nullptr);

  /// Member `member` of `group` calls `collective`; `client` is told, possibly at once, when its part is done.
  /// CollectiveMismatch if an earlier member's call differs.
  void join(std::int32_t group, std::int32_t member, const Collective& collective, CollectiveClient& client,
            std::int64_t token);

  /// One line for every collective that has begun and not ended, saying which devices are missing.
  [[nodiscard]] std::vector<std::string> unfinished() const;
  [[nodiscard]] std::int64_t collectives() const { return collectives_; }
  struct FlowCount {
    std::int32_t group = 0;
    Collective collective;
    std::int64_t times = 0;
  };
  /// Collectives that were one flow; their bytes are not on the links yet.
  [[nodiscard]] const std::vector<FlowCount>& flows() const { return flows_; }
  [[nodiscard]] const std::vector<CommunicationGroup>& groups() const { return plans_.groups(); }

 private:
  struct Member {
    CollectiveClient* client = nullptr;  ///< null until it joins
    std::int64_t token = 0;
    std::int32_t step = -1;
    std::int32_t sends_under_way = 0;
    std::int32_t overheads = 0;  ///< steps in which it took part
    bool done = false;
  };
  struct Run {
    Collective collective;
    const CollectivePlan* plan = nullptr;
    std::optional<CollectiveTime> flow;  ///< set: one flow
    std::vector<Member> members;
    std::vector<std::int32_t> received;  ///< by slot
    std::int64_t joined = 0, done = 0;
    Picoseconds last_join{};
  };
  struct GroupState {
    std::vector<std::int64_t> calls;  ///< by member
    std::deque<Run> runs;             ///< begun and not ended
    std::int64_t first_run = 0;       ///< number of runs.front()
  };

  struct FlowEnd {
    std::int32_t group = 0;
    std::int64_t number = 0;
    bool operator<(const FlowEnd& other) const {
      return group != other.group ? group < other.group : number < other.number;
    }
  };

  void delivered(const Delivery& delivery) override;
  void end_flows();
  void finish(std::int32_t group, std::int64_t number, std::int32_t member);
  void count_flow(std::int32_t group, const Collective& collective);
  Run& run_of(std::int32_t group, std::int64_t number, const Collective& collective);
  void advance(std::int32_t group, std::int64_t number, std::int32_t member);
  void begin_step(std::int32_t group, std::int64_t number, std::int32_t member, Picoseconds start);
  [[noreturn]] void refuse(std::int32_t group, std::int32_t member, const Run& run, const Collective& collective) const;
  [[nodiscard]] std::string describe(const CommunicationGroup& group, const Run& run) const;

  Network& network_;
  CollectivePlans& plans_;
  Picoseconds collective_overhead_, step_overhead_;
  std::vector<GroupState> states_;
  FlowTimes flow_times_;
  TimedQueue<FlowEnd> flow_ends_;
  std::vector<FlowCount> flows_;
  std::int64_t collectives_ = 0;
};

}  // namespace tandem
