// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <systemc>

#include "sim/simulate.h"

namespace tandem {

/// Tells a caller how far the run is and lets it, or a failure inside a process, end it. The clock decides only when
/// the caller is told, never what is simulated.
class RunControl {
 public:
  RunControl(const SimulationOptions& options, std::int64_t tasks) : options_(options), tasks_(tasks) {}

  void task_done() {
    ++done_;
    if (!options_.cancelled && !options_.progress) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < std::chrono::milliseconds(250)) return;
    told_ = now;
    if (options_.progress) options_.progress(static_cast<double>(done_) / static_cast<double>(tasks_));
    if (options_.cancelled && options_.cancelled()) cancel();
  }
  /// SystemC would turn an exception that leaves a process into a report of its own.
  void fail(std::exception_ptr failure) {
    if (!failure_) failure_ = std::move(failure);
    sc_core::sc_pause();
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
    if (cancelled_) throw CancelledError("the simulation was cancelled");
  }

 private:
  void cancel() {
    cancelled_ = true;
    sc_core::sc_pause();
  }

  const SimulationOptions& options_;
  std::int64_t tasks_ = 0, done_ = 0;
  std::chrono::steady_clock::time_point told_{};
  bool cancelled_ = false;
  std::exception_ptr failure_;
};

}  // namespace tandem
