// SPDX-License-Identifier: Apache-2.0
#include "search/architecture_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

#include "arch/area.h"
#include "arch/config.h"
#include "arch/support/error.h"
#include "search/model_error.h"
#include "search/plan_json.h"
#include "search/run_directory.h"
#include "search/search_report.h"
#include "search/search_table.h"
#include "search/tasks.h"
#include "search/worker_pool.h"

namespace tandem {
namespace {

using Outcome = WorkerReply::Outcome;

// Requests between two decisions. Fixed, so that the decisions do not depend on the number of workers.
constexpr std::size_t kPlaceBatch = 32;
constexpr std::size_t kSimulateBatch = 4;

/// Each architecture with a name of its own: it is no longer the chip that the space starts from.
std::vector<DesignPoint> enumerate_designs(const SearchConfig& config, DesignCounts& counts) {
  std::vector<DesignPoint> designs;
  counts = enumerate(config.space, [&](const DesignPoint& point) {
    designs.push_back(point);
    designs.back().chip.name = fmt::format("{}-{}", config.name, point.index);
  });
  return designs;
}

/// Designs that are not placed yet, by lower bounds on their best time that are sharpened when they come to the front.
class OpenDesigns {
 public:
  explicit OpenDesigns(const std::vector<Seconds>& quick) {
    for (std::size_t i = 0; i < quick.size(); ++i) open_.push({quick[i], i, false});
  }

  /// Takes out up to `count` designs with the least bounds, none above `limit` picoseconds.
  template <typename Close>
  std::vector<std::size_t> next(std::size_t count, double limit, Close&& close) {
    std::vector<std::size_t> taken;
    while (taken.size() < count && !open_.empty() && open_.top().bound.count() * 1e12 <= limit) {
      const Entry entry = open_.top();
      open_.pop();
      if (entry.is_close) {
        taken.push_back(entry.position);
      } else {
        open_.push({std::max(entry.bound, close(entry.position)), entry.position, true});
      }
    }
    return taken;
  }

  /// What is left, in no particular order.
  std::vector<std::size_t> rest() {
    std::vector<std::size_t> left;
    for (; !open_.empty(); open_.pop()) left.push_back(open_.top().position);
    return left;
  }

 private:
  struct Entry {
    Seconds bound{};
    std::size_t position = 0;
    bool is_close = false;
    bool operator>(const Entry& other) const {
      return std::tie(bound, position) > std::tie(other.bound, other.position);
    }
  };
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

/// One search under way.
class Search {
 public:
  Search(const SearchConfig& config, Evaluator& evaluator, const SearchOptions& options);
  SearchResult run();

 private:
  std::vector<WorkerReply> answer(const std::vector<std::string>& tasks, SearchPhase phase);
  void report(SearchPhase phase, std::int64_t done, std::int64_t total) const;

  void place_all();
  void place_batch(std::span<const std::size_t> positions);
  void take_placement(std::size_t position, const WorkerReply& reply);
  void count_plans(const PlacementResult& placed);
  [[nodiscard]] double threshold() const;
  void rank_by_prediction();

  void weigh_baseline();
  void simulate_best();
  void simulate_batch(std::span<const std::size_t> wave);
  void rank_by_simulation();

  void keep_best();
  void finish();

  const SearchConfig& config_;
  const SearchOptions& options_;
  DesignCounts counts_;
  std::vector<DesignPoint> designs_;
  RunDirectory directory_;
  TaskRunner runner_;
  WorkerPool pool_;
  SearchResult result_;
  std::vector<Seconds> bound_;  ///< by position in designs_
  bool cancelled_ = false;
  std::int64_t simulated_ = 0, to_simulate_ = 0;
};

std::int64_t worker_count(const SearchConfig& config, const SearchOptions& options) {
  if (options.workers > 0) return options.workers;
  return config.workers > 0 ? config.workers : available_cores();
}

Search::Search(const SearchConfig& config, Evaluator& evaluator, const SearchOptions& options)
    : config_(config),
      options_(options),
      designs_(enumerate_designs(config, counts_)),
      directory_(options.directory, options.existing, config, options.simulator),
      runner_(config, designs_, evaluator),
      pool_(worker_count(config, options), [this](const std::string& task) { return runner_.run(task); }) {
  result_.designs = counts_;
  bound_.assign(designs_.size(), Seconds(0));
}

void Search::report(SearchPhase phase, std::int64_t done, std::int64_t total) const {
  if (options_.progress) options_.progress({phase, done, total});
}

/// Answers from the journal where it has them, else from the workers, whose answers go into the journal.
std::vector<WorkerReply> Search::answer(const std::vector<std::string>& tasks, SearchPhase phase) {
  std::vector<WorkerReply> replies(tasks.size());
  std::vector<std::string> open;
  std::vector<std::size_t> place_of;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (const auto* found = directory_.found(tasks[i])) {
      replies[i] = reply_from_json(*found, tasks[i]);
    } else {
      open.push_back(tasks[i]);
      place_of.push_back(i);
    }
  }
  WorkerWatch watch;
  if (phase != SearchPhase::predict) {
    watch.limit = std::chrono::duration_cast<std::chrono::milliseconds>(config_.validate.time_limit);
  }
  watch.cancelled = options_.cancelled;
  watch.replied = [&](std::size_t i, const WorkerReply& reply) {
    directory_.journal().record(open[i], reply_json(reply));
    if (phase != SearchPhase::predict) {
      directory_.journal().sync();
      report(phase, ++simulated_, to_simulate_);
    }
  };
  const auto fresh = pool_.run(open, watch);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    replies[place_of[i]] = fresh[i];
    cancelled_ = cancelled_ || fresh[i].outcome == Outcome::cancelled;
  }
  directory_.journal().sync();
  return replies;
}

// ---- prediction -----------------------------------------------------------------------------------------------------

/// The predicted time that a candidate must beat to be among those that may be simulated.
double Search::threshold() const {
  std::vector<std::int64_t> times;
  for (const Candidate& candidate : result_.candidates) {
    if (candidate.predicted) times.push_back(candidate.predicted->time.count());
  }
  const auto kept = static_cast<std::size_t>(config_.validate.top);
  if (times.size() < kept) return std::numeric_limits<double>::infinity();
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(kept - 1), times.end());
  return static_cast<double>(times[kept - 1]);
}

void Search::place_all() {
  for (std::size_t i = 0; i < designs_.size(); ++i) {
    bound_[i] = runner_.placer().least_time(designs_[i].chip, Placer::Effort::quick);
  }
  const auto total = static_cast<std::int64_t>(designs_.size());
  report(SearchPhase::predict, 0, total);
  // Best first: what looks best by its quick bound is looked at more closely, then placed.
  OpenDesigns open(bound_);
  std::int64_t placed = 0;
  while (!cancelled_) {
    const std::vector<std::size_t> batch = open.next(kPlaceBatch, threshold(), [this](std::size_t i) {
      return runner_.placer().least_time(designs_[i].chip, Placer::Effort::close);
    });
    if (batch.empty()) break;
    place_batch(batch);
    placed += static_cast<std::int64_t>(batch.size());
    report(SearchPhase::predict, placed, total);
  }
  for (const std::size_t position : open.rest()) {
    const DesignPoint& design = designs_[position];
    Candidate candidate;
    candidate.architecture = design.index;
    candidate.area = design.area;
    if (!cancelled_) {
      candidate.status = CandidateStatus::bounded;
      candidate.reason = "no mapping and no plan on it can reach the best found";
    }
    result_.candidates.push_back(candidate);
  }
  std::stable_sort(result_.candidates.begin(), result_.candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.architecture, a.plan_rank) < std::tie(b.architecture, b.plan_rank);
  });
}

void Search::place_batch(std::span<const std::size_t> positions) {
  std::vector<std::string> tasks;
  for (const std::size_t position : positions) tasks.push_back(place_task(designs_[position].index));
  const auto replies = answer(tasks, SearchPhase::predict);
  for (std::size_t i = 0; i < replies.size(); ++i) take_placement(positions[i], replies[i]);
}

void Search::count_plans(const PlacementResult& placed) {
  result_.plans += placed.counts;
  result_.unproven += placed.unproven;
  if (!placed.nearest_miss) return;
  const auto excess = [](const NearestMiss& miss) { return miss.needed / miss.capacity; };
  if (!result_.nearest_miss || excess(*placed.nearest_miss) < excess(*result_.nearest_miss)) {
    result_.nearest_miss = placed.nearest_miss;
  }
}

void Search::take_placement(std::size_t position, const WorkerReply& reply) {
  Candidate candidate;
  candidate.architecture = designs_[position].index;
  candidate.area = designs_[position].area;
  if (reply.outcome == Outcome::cancelled) {
    result_.candidates.push_back(candidate);
    return;
  }
  if (reply.outcome != Outcome::done) {
    candidate.status = CandidateStatus::failed;
    candidate.reason = reply.text;
    result_.candidates.push_back(candidate);
    return;
  }
  const PlacementResult placed = placement_from_json(nlohmann::json::parse(reply.text));
  count_plans(placed);
  if (placed.best.empty()) {
    candidate.status = CandidateStatus::infeasible;
    candidate.reason = placed.nearest_miss ? placed.nearest_miss->text : "no plan is possible";
    result_.candidates.push_back(candidate);
  }
  for (const Placement& placement : placed.best) {
    candidate.plan = placement.plan;
    candidate.predicted = Throughput{placement.time, placement.tokens_per_second, placement.mfu};
    candidate.status = CandidateStatus::predicted;
    result_.candidates.push_back(candidate);
    ++candidate.plan_rank;
  }
}

void Search::rank_by_prediction() {
  for (std::size_t i = 0; i < result_.candidates.size(); ++i) {
    if (result_.candidates[i].predicted) result_.ranking.push_back(i);
  }
  std::stable_sort(result_.ranking.begin(), result_.ranking.end(), [this](std::size_t a, std::size_t b) {
    return result_.candidates[a].predicted->time < result_.candidates[b].predicted->time;
  });
}

// ---- simulation -----------------------------------------------------------------------------------------------------

void take_simulation(Candidate& candidate, const WorkerReply& reply, std::vector<std::string>& assumptions) {
  if (reply.outcome == Outcome::cancelled) return;
  if (reply.outcome != Outcome::done) {
    candidate.status = CandidateStatus::failed;
    candidate.reason = reply.text;
    return;
  }
  const Evaluation evaluation = evaluation_from_json(nlohmann::json::parse(reply.text));
  candidate.simulated = evaluation.throughput;
  candidate.simulated_by_cause = evaluation.by_cause;
  candidate.status = CandidateStatus::simulated;
  for (const std::string& assumption : evaluation.assumptions) {
    if (std::find(assumptions.begin(), assumptions.end(), assumption) == assumptions.end()) {
      assumptions.push_back(assumption);
    }
  }
}

/// The baseline's machine under the plan made by hand, and under the best plan of the search's own space.
void Search::weigh_baseline() {
  if (!config_.baseline || cancelled_) return;
  Candidate by_hand;
  by_hand.plan = config_.baseline->plan;
  by_hand.area = result_.baseline_area;
  const auto replies = answer({predict_task(kBaseline, by_hand.plan), place_task(kBaseline)}, SearchPhase::predict);
  if (replies[0].outcome == Outcome::done) {
    by_hand.predicted = evaluation_from_json(nlohmann::json::parse(replies[0].text)).throughput;
    by_hand.status = CandidateStatus::predicted;
  } else if (replies[0].outcome != Outcome::cancelled) {
    by_hand.status = CandidateStatus::failed;
    by_hand.reason = replies[0].text;
  }
  result_.baselines.emplace_back("hand_made", by_hand);
  if (replies[1].outcome != Outcome::done) return;
  const PlacementResult placed = placement_from_json(nlohmann::json::parse(replies[1].text));
  if (placed.best.empty()) return;
  Candidate own;
  own.plan = placed.best.front().plan;
  own.area = result_.baseline_area;
  own.predicted = Throughput{placed.best.front().time, placed.best.front().tokens_per_second, placed.best.front().mfu};
  own.status = CandidateStatus::predicted;
  result_.baselines.emplace_back("own_best_plan", own);
}

/// Simulates the candidates at these positions of the ranking; the first wave takes the baselines along.
void Search::simulate_batch(std::span<const std::size_t> wave) {
  std::vector<Candidate*> candidates;
  for (auto& [name, baseline] : result_.baselines) {
    if (baseline.status == CandidateStatus::predicted) candidates.push_back(&baseline);
  }
  for (const std::size_t i : wave) candidates.push_back(&result_.candidates[i]);
  std::vector<std::string> tasks;
  for (const Candidate* candidate : candidates) {
    tasks.push_back(simulate_task(candidate->architecture, candidate->plan));
  }
  const auto replies = answer(tasks, SearchPhase::simulate);
  for (std::size_t i = 0; i < replies.size(); ++i) take_simulation(*candidates[i], replies[i], result_.assumptions);
}

void Search::simulate_best() {
  const std::size_t budget = std::min(result_.ranking.size(), static_cast<std::size_t>(config_.validate.top));
  to_simulate_ = static_cast<std::int64_t>(budget + result_.baselines.size());
  report(SearchPhase::simulate, 0, to_simulate_);
  std::size_t next = 0;
  while (next < budget && !cancelled_) {
    const std::size_t size = std::min(kSimulateBatch, budget - next);
    simulate_batch(std::span(result_.ranking).subspan(next, size));
    next += size;
    result_.margin = margin_after(result_, next);
    if (result_.margin.reason != StopReason::budget) break;
  }
}

void Search::rank_by_simulation() {
  std::stable_sort(result_.ranking.begin(), result_.ranking.end(), [this](std::size_t a, std::size_t b) {
    const auto& left = result_.candidates[a].simulated;
    const auto& right = result_.candidates[b].simulated;
    if (left && right) return left->time < right->time;
    return left.has_value() && !right.has_value();
  });
  result_.kendall_tau = kendall_tau(result_.candidates);
}

// ---- the run directory ----------------------------------------------------------------------------------------------

/// Everything needed to run the winner again, and its trace.
void Search::keep_best() {
  const Candidate* best = result_.best();
  if (best == nullptr) return;
  Cluster cluster = config_.cluster;
  cluster.chip = designs_[position_of(designs_, best->architecture)].chip;
  directory_.write("best/chip.yaml", to_yaml(cluster.chip));
  directory_.write("best/cluster.yaml", to_yaml(cluster));
  directory_.write("best/model.json", config_.model_text);
  directory_.write("best/plan.yaml", to_yaml(best->plan));
  if (!best->simulated || cancelled_) return;
  report(SearchPhase::trace, 0, 1);
  // Never from the journal: an earlier run's file may have been cut short.
  WorkerWatch watch;
  watch.limit = std::chrono::duration_cast<std::chrono::milliseconds>(config_.validate.time_limit);
  watch.cancelled = options_.cancelled;
  const auto replies =
      pool_.run({trace_task(best->architecture, best->plan, directory_.path("best/trace.h5").string())}, watch);
  cancelled_ = cancelled_ || replies[0].outcome == Outcome::cancelled;
  if (replies[0].outcome == Outcome::done) {
    const Evaluation again = evaluation_from_json(nlohmann::json::parse(replies[0].text));
    result_.trace_repeats = again.throughput.time == best->simulated->time;
  } else {
    result_.trace_failure = replies[0].text;
  }
  report(SearchPhase::trace, 1, 1);
}

void Search::finish() {
  if (cancelled_) {
    result_.status = SearchStatus::interrupted;
  } else if (result_.ranking.empty()) {
    result_.status = SearchStatus::infeasible;
  } else if (options_.scope == SearchScope::prefilter_only) {
    result_.status = SearchStatus::prefiltered;
  }
  write_search_table(directory_.path("search.h5"), config_, designs_, result_);
  result_.json = result_json(config_, designs_, result_, directory_.config_hash(), options_.simulator);
  directory_.write("result.json", result_.json);
}

SearchResult Search::run() {
  if (config_.baseline) {
    result_.baseline_area = estimate_area(config_.baseline->cluster.chip, config_.space.technology).total();
  }
  place_all();
  rank_by_prediction();
  if (options_.scope == SearchScope::whole && !result_.ranking.empty()) {
    weigh_baseline();
    simulate_best();
    rank_by_simulation();
  }
  keep_best();
  finish();
  if (result_.status == SearchStatus::infeasible) throw InfeasibleError(infeasible_text(result_));
  return std::move(result_);
}

}  // namespace

SearchResult search_architecture(const SearchConfig& config, Evaluator& evaluator, const SearchOptions& options) {
  Search search(config, evaluator, options);
  return search.run();
}

}  // namespace tandem
