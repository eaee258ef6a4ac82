// SPDX-License-Identifier: Apache-2.0
// Worker processes that answer requests, one at a time each. A worker that throws, crashes or hangs costs its own
// request only.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/support/enum_names.h"

namespace tandem {

enum class WorkerOutcome {
  done,        ///< the text is the answer
  infeasible,  ///< the handler threw InfeasibleError
  failed,      ///< it threw something else
  died,        ///< the process ended: a crash
  timed_out,   ///< killed by the watchdog
  cancelled    ///< not answered
};

template <>
struct EnumNames<WorkerOutcome> {
  static constexpr auto values =
      std::to_array<std::pair<WorkerOutcome, std::string_view>>({{WorkerOutcome::done, "done"},
                                                                 {WorkerOutcome::infeasible, "infeasible"},
                                                                 {WorkerOutcome::failed, "failed"},
                                                                 {WorkerOutcome::died, "died"},
                                                                 {WorkerOutcome::timed_out, "timed_out"},
                                                                 {WorkerOutcome::cancelled, "cancelled"}});
};

struct WorkerReply {
  using Outcome = WorkerOutcome;
  Outcome outcome = Outcome::cancelled;
  std::string text;  ///< the answer, or why there is none
};

/// What to do while the requests run.
struct WorkerWatch {
  std::chrono::milliseconds limit{0};  ///< of one request by the wall clock; 0: none
  std::function<bool()> cancelled;     ///< polled several times a second; true kills what runs
  std::function<void(std::size_t request, const WorkerReply&)> replied;  ///< in order of completion
};

/// Forks its workers on construction: do it while the process is small and has one thread. They ignore the terminal's
/// interrupt (the parent decides) and end with the parent. A worker lost is forked anew.
class WorkerPool {
 public:
  using Handler = std::function<std::string(const std::string& request)>;

  WorkerPool(std::int64_t workers, Handler handler);  ///< std::system_error if the system refuses
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  /// Answers by position of the request, whichever worker gave them.
  std::vector<WorkerReply> run(const std::vector<std::string>& requests, const WorkerWatch& watch = {});

 private:
  struct Worker {
    pid_t pid = -1;
    int socket = -1;
    std::optional<std::size_t> request;
    std::chrono::steady_clock::time_point started;
    std::string inbox;
  };

  Worker spawn() const;
  void replace(Worker& worker) const;
  static std::string end(Worker& worker, int signal);  ///< reaps; says how it ended
  void dispatch(const std::vector<std::string>& requests, std::size_t& next);
  void wait_for_input() const;
  std::optional<WorkerReply> collect(Worker& worker, std::chrono::milliseconds limit);

  Handler handler_;
  std::vector<Worker> workers_;
};

/// Cores this process may use.
std::int64_t available_cores();

}  // namespace tandem
