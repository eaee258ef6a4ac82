// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "arch/hbm_presets.h"
#include "sim/chip/hbm_scheduler.h"

namespace tandem::sim {

using std::chrono::nanoseconds;

/// DRAMsim3's HBM2_8Gb_x128 (clock 1 ns): tRCD, tRP, CL 14, CWL 4, tRAS 34, tRRD 4 and 6, tFAW 30, burst 2, tRTP 5,
/// tWTR 6 and 8, tREFI 3900, tRFC 260, read to write 14.
inline HbmTimes hbm2(std::string_view name = "HBM2_8Gb_x128") { return make_hbm_times(*hbm_preset(name)); }

inline HbmPiece read_of(std::int32_t bank, std::int64_t row, std::int32_t atoms, std::int64_t at_ns,
                        std::int32_t client = 0) {
  return {bank, atoms, row, Access::read, client, nanoseconds(at_ns)};
}

inline HbmPiece write_of(std::int32_t bank, std::int64_t row, std::int32_t atoms, std::int64_t at_ns,
                         std::int32_t client = 0) {
  return {bank, atoms, row, Access::write, client, nanoseconds(at_ns)};
}

/// Answers to pieces in order of arrival, everything served.
inline std::vector<HbmService> run(HbmScheduler& scheduler, const std::vector<HbmPiece>& pieces) {
  for (const HbmPiece& piece : pieces) {
    scheduler.advance(piece.arrival);
    scheduler.push(piece);
  }
  scheduler.advance(pieces.back().arrival + std::chrono::microseconds(20));
  std::vector<HbmService> answers = scheduler.answers();
  scheduler.answers().clear();
  return answers;
}

inline std::vector<HbmService> run(const HbmTimes& times, const std::vector<HbmPiece>& pieces) {
  HbmScheduler scheduler(times);
  return run(scheduler, pieces);
}

/// First data of each answer to a read, in nanoseconds, from early to late.
inline std::vector<std::int64_t> firsts(const std::vector<HbmService>& answers) {
  std::vector<std::int64_t> times;
  for (const HbmService& answer : answers) {
    if (answer.access == Access::read) times.push_back(answer.first.count() / 1000);
  }
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace tandem::sim
