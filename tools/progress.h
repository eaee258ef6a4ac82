// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "tools/session.h"

namespace tandem {

/// A line on standard error that says how far the work is, if that is a terminal and the work has taken over a second.
class Progress {
 public:
  Progress(const Session& session, std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  ///< wipes the line

  void show(double fraction, const std::string& detail = {});

 private:
  std::string what_;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace tandem
