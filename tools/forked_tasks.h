// SPDX-License-Identifier: Apache-2.0
// Independent tasks in worker processes: SystemC runs one simulation a process, and a crash must cost one task only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tandem {

struct TaskOutcome {
  bool ok = false;
  std::string text;  ///< the task's result, or why there is none
};

struct ForkedOptions {
  int jobs = 1;
  std::chrono::seconds limit{600};                 ///< a task that takes longer is ended and fails
  std::function<void(std::size_t finished)> done;  ///< in the parent, after every task
  std::function<bool()> cancelled;                 ///< polled; true ends all workers
};

/// Calls `task(i)` for every i below `count`, each in one of `jobs` processes forked from this one. An exception's
/// message, a signal or a time limit make that task fail. Outcomes are by index, whatever the number of workers; tasks
/// that were cancelled fail with "cancelled".
std::vector<TaskOutcome> run_forked(std::size_t count, const std::function<std::string(std::size_t)>& task,
                                    const ForkedOptions& options);

}  // namespace tandem
