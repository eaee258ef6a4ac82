// SPDX-License-Identifier: Apache-2.0
// The co-search: enumerate architectures, place the model on each, simulate the best, rank by what was simulated.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/evaluator.h"
#include "search/placement.h"
#include "search/search_config.h"

namespace tandem {

enum class SearchPhase { predict, simulate, trace };

template <>
struct EnumNames<SearchPhase> {
  static constexpr auto values = std::to_array<std::pair<SearchPhase, std::string_view>>(
      {{SearchPhase::predict, "predict"}, {SearchPhase::simulate, "simulate"}, {SearchPhase::trace, "trace"}});
};

struct SearchProgress {
  SearchPhase phase{};
  std::int64_t done = 0, total = 0;  ///< `total` may shrink when the rest is discarded
};

enum class ExistingRun { refuse, resume, overwrite };
enum class SearchScope { whole, prefilter_only };

struct SearchOptions {
  std::filesystem::path directory;  ///< the run directory
  ExistingRun existing = ExistingRun::refuse;
  SearchScope scope = SearchScope::whole;
  std::int64_t workers = 0;  ///< 0: as the config says
  std::string simulator;     ///< what the evaluator is, for the record
  std::function<void(const SearchProgress&)> progress;
  std::function<bool()> cancelled;  ///< polled several times a second
};

enum class SearchStatus { complete, prefiltered, interrupted, infeasible };

template <>
struct EnumNames<SearchStatus> {
  static constexpr auto values =
      std::to_array<std::pair<SearchStatus, std::string_view>>({{SearchStatus::complete, "complete"},
                                                                {SearchStatus::prefiltered, "prefiltered"},
                                                                {SearchStatus::interrupted, "interrupted"},
                                                                {SearchStatus::infeasible, "infeasible"}});
};

/// How far one candidate, or one architecture without a candidate, got.
enum class CandidateStatus { simulated, failed, predicted, bounded, infeasible, open };

template <>
struct EnumNames<CandidateStatus> {
  static constexpr auto values =
      std::to_array<std::pair<CandidateStatus, std::string_view>>({{CandidateStatus::simulated, "simulated"},
                                                                   {CandidateStatus::failed, "failed"},
                                                                   {CandidateStatus::predicted, "predicted"},
                                                                   {CandidateStatus::bounded, "bounded"},
                                                                   {CandidateStatus::infeasible, "infeasible"},
                                                                   {CandidateStatus::open, "open"}});
};

/// Time of one iteration with what follows from it.
struct Throughput {
  Picoseconds time{};
  double tokens_per_second = 0;
  double mfu = 0;
};

/// One architecture with one placement.
struct Candidate {
  std::int64_t architecture = -1;  ///< DesignPoint::index; -1: a baseline
  std::int64_t plan_rank = 0;      ///< among the placements of its architecture
  Area area{};
  Plan plan;
  std::optional<Throughput> predicted, simulated;
  TimeByCause simulated_by_cause;  ///< of the simulated time
  CandidateStatus status = CandidateStatus::open;
  std::string reason;  ///< of failed, bounded and infeasible ones
};

/// Why the simulations stopped.
enum class StopReason { all_simulated, empirical_margin, budget, not_run };

template <>
struct EnumNames<StopReason> {
  static constexpr auto values =
      std::to_array<std::pair<StopReason, std::string_view>>({{StopReason::all_simulated, "all_simulated"},
                                                              {StopReason::empirical_margin, "empirical_margin"},
                                                              {StopReason::budget, "budget"},
                                                              {StopReason::not_run, "not_run"}});
};

/// Can an unsimulated candidate still win? `largest_underestimate` is the largest simulated over predicted throughput
/// seen; `runner_up` the best unsimulated candidate's predicted throughput times that, over the winner's simulated
/// throughput: below one, none can if the model errs on it by no more than it has erred so far (an empirical margin,
/// not a proof).
struct Margin {
  StopReason reason = StopReason::not_run;
  double largest_underestimate = 0;
  double runner_up = 0;  ///< 0: every candidate was simulated, or none
};

struct SearchResult {
  SearchStatus status = SearchStatus::complete;
  std::vector<Candidate> candidates;  ///< by architecture and plan rank; architectures without a plan too
  std::vector<std::size_t> ranking;   ///< into `candidates`: simulated ones by simulation, then predicted ones
  std::vector<std::pair<std::string, Candidate>> baselines;  ///< "hand_made", "own_best_plan"
  DesignCounts designs;
  Area baseline_area{};
  PlacementCounts plans;      ///< over all architectures
  std::int64_t unproven = 0;  ///< plans whose stages' search met its node limit
  std::optional<NearestMiss> nearest_miss;
  Margin margin;
  std::optional<double> kendall_tau;  ///< predicted against simulated, over the simulated ones
  std::vector<std::string> assumptions;
  std::optional<bool> trace_repeats;  ///< the traced run of the winner took the same time to the picosecond
  std::string trace_failure;          ///< why there is no trace
  std::string json;                   ///< text of result.json

  [[nodiscard]] const Candidate* best() const { return ranking.empty() ? nullptr : &candidates[ranking.front()]; }
};

/// Runs or resumes a search and leaves everything found in the run directory. The result does not depend on the number
/// of workers. An existing directory that is not resumed or overwritten, or a journal of another config, is a
/// ConfigError. When nothing fits, the directory is written first and then InfeasibleError says how many candidates
/// failed for which reason, with the nearest miss.
SearchResult search_architecture(const SearchConfig& config, Evaluator& evaluator, const SearchOptions& options);

}  // namespace tandem
