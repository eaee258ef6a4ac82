// SPDX-License-Identifier: Apache-2.0
// Answers as tables for people.
#pragma once

#include <string>
#include <vector>

#include "tools/scenario.h"
#include "workloads/answer.h"
#include "workloads/program.h"

namespace tandem {

/// Model, machine and plan, one line each.
std::string heading(const Scenario& scenario);
/// Everything about one answer: iteration, time by cause, stages with their memory, layers, slowest operators.
std::string answer_text(const Scenario& scenario, const Program& program, const Answer& answer);
/// Bytes of each category on a device of each pipeline stage, with what is left of the chip's memory.
std::string memory_table(const std::vector<MemoryFootprint>& stages, const Cluster& cluster);
/// Shares of a time, largest first; causes that took none are left out.
std::string cause_table(const TimeByCause& by_cause);
/// The cause with the largest part.
Cause main_cause(const TimeByCause& by_cause);
std::string listed(const std::vector<std::string>& assumptions);

}  // namespace tandem
