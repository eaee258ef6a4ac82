// SPDX-License-Identifier: Apache-2.0
#include "search/search_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "search/plan_json.h"
#include "search/tasks.h"

namespace tandem {
namespace {

using nlohmann::json;

constexpr double kSquareMicrometresPerSquareMillimetre = 1e6;

json throughput_json(const std::optional<Throughput>& throughput) {
  if (!throughput) return nullptr;
  return {{"time_ps", throughput->time.count()},
          {"tokens_per_second", throughput->tokens_per_second},
          {"mfu", throughput->mfu}};
}

json by_cause_json(const TimeByCause& time) {
  json object = json::object();
  for (const auto& [cause, name] : EnumNames<Cause>::values) object[std::string(name)] = time[cause].count();
  return object;
}

/// What sets one architecture apart from the next: the values of the axes and the figures that follow.
json chip_json(const Chip& chip, Area area, DataType dtype) {
  return {{"name", chip.name},
          {"tensor_cores", chip.tensor.count},
          {"arrays", chip.tensor.arrays},
          {"rows", chip.tensor.rows},
          {"cols", chip.tensor.cols},
          {"vector_cores", chip.vector.count},
          {"lanes", chip.vector.lanes},
          {"global_buffer_bytes", chip.glb.capacity.value()},
          {"hbm_bytes", chip.hbm.capacity.value()},
          {"hbm_bytes_per_second", chip.hbm.bandwidth.value()},
          {"peak_flop_per_second", chip.peak(dtype).value()},
          {"area_mm2", area.value() / kSquareMicrometresPerSquareMillimetre}};
}

json candidate_json(const Candidate& candidate, const Chip& chip, DataType dtype) {
  json object{{"status", name_of(candidate.status)},
              {"chip", chip_json(chip, candidate.area, dtype)},
              {"plan", plan_json(candidate.plan)},
              {"plan_text", describe(candidate.plan)},
              {"predicted", throughput_json(candidate.predicted)},
              {"simulated", throughput_json(candidate.simulated)}};
  if (candidate.architecture >= 0) object["architecture"] = candidate.architecture;
  if (!candidate.reason.empty()) object["reason"] = candidate.reason;
  if (candidate.simulated) object["simulated_time_by_cause_ps"] = by_cause_json(candidate.simulated_by_cause);
  return object;
}

json ratio(const std::optional<Throughput>& best, const std::optional<Throughput>& other) {
  if (!best || !other || other->tokens_per_second == 0) return nullptr;
  return best->tokens_per_second / other->tokens_per_second;
}

json baselines_json(const SearchConfig& config, const SearchResult& result) {
  json object = json::object();
  for (const auto& [name, baseline] : result.baselines) {
    json entry = candidate_json(baseline, config.baseline->cluster.chip, config.plans.dtype);
    if (const Candidate* best = result.best()) {
      entry["best_over_this"] = {{"simulated_throughput", ratio(best->simulated, baseline.simulated)},
                                 {"predicted_throughput", ratio(best->predicted, baseline.predicted)},
                                 {"area", best->area / baseline.area}};
    }
    object[name] = entry;
  }
  return object;
}

json counts_json(const SearchResult& result) {
  std::map<std::string, std::int64_t> by_status;
  for (const auto& [status, name] : EnumNames<CandidateStatus>::values) by_status[std::string(name)] = 0;
  for (const Candidate& candidate : result.candidates) ++by_status[std::string(name_of(candidate.status))];
  return {{"architectures",
           {{"enumerated", result.designs.enumerated},
            {"over_area", result.designs.over_area},
            {"under_area", result.designs.under_area},
            {"over_power", result.designs.over_power},
            {"contradictory", result.designs.contradictory},
            {"first_contradiction", result.designs.first_contradiction}}},
          {"candidates", by_status},
          {"plans",
           {{"enumerated", result.plans.enumerated},
            {"predicted", result.plans.predicted},
            {"bounded", result.plans.bounded},
            {"rejected", result.plans.rejected},
            {"unproven_stages", result.unproven}}}};
}

/// What speaks for the winner against the candidates that were not simulated.
const char* margin_kind(StopReason reason) {
  switch (reason) {
    case StopReason::all_simulated: return "proven within the candidates";
    case StopReason::empirical_margin: return "empirical margin";
    case StopReason::budget: return "none: an unsimulated candidate could still win";
    case StopReason::not_run: break;
  }
  return "none: nothing was simulated";
}

json margin_json(const Margin& margin) {
  return {{"stopped_because", name_of(margin.reason)},
          {"kind", margin_kind(margin.reason)},
          {"largest_simulated_over_predicted_throughput", margin.largest_underestimate},
          {"best_unsimulated_could_reach", margin.runner_up}};
}

json ranking_json(const SearchConfig& config, const std::vector<DesignPoint>& designs, const SearchResult& result) {
  json ranking = json::array();
  for (const std::size_t i : result.ranking) {
    if (static_cast<std::int64_t>(ranking.size()) >= config.validate.top) break;
    const Candidate& candidate = result.candidates[i];
    ranking.push_back(
        candidate_json(candidate, designs[position_of(designs, candidate.architecture)].chip, config.plans.dtype));
  }
  return ranking;
}

}  // namespace

std::string result_json(const SearchConfig& config, const std::vector<DesignPoint>& designs, const SearchResult& result,
                        const std::string& config_hash, const std::string& simulator) {
  json object{{"format", "tandem-search-result"},
              {"version", 1},
              {"name", config.name},
              {"model", config.model.name},
              {"cluster", config.cluster.name},
              {"devices", config.plans.devices},
              {"seed", config.seed},
              {"config_hash", config_hash},
              {"simulator", simulator},
              {"status", name_of(result.status)},
              {"best", nullptr},
              {"ranking", ranking_json(config, designs, result)},
              {"baselines", baselines_json(config, result)},
              {"counts", counts_json(result)},
              {"margin", margin_json(result.margin)},
              {"kendall_tau", result.kendall_tau ? json(*result.kendall_tau) : json(nullptr)},
              {"nearest_miss", result.nearest_miss ? json(result.nearest_miss->text) : json(nullptr)},
              {"assumptions", result.assumptions},
              {"trace", {{"repeats_simulation", result.trace_repeats ? json(*result.trace_repeats) : json(nullptr)}}}};
  if (config.space.max_area) {
    object["max_area_mm2"] = config.space.max_area->value() / kSquareMicrometresPerSquareMillimetre;
  }
  if (!result.trace_failure.empty()) object["trace"]["failure"] = result.trace_failure;
  if (!object["ranking"].empty()) object["best"] = object["ranking"].front();
  return object.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

std::string infeasible_text(const SearchResult& result) {
  std::string text = fmt::format(
      "no architecture with a plan: of {} architectures {} exceed the area limit, {} fall below the least "
      "area, {} exceed the power limit",
      result.designs.enumerated, result.designs.over_area, result.designs.under_area, result.designs.over_power);
  if (result.designs.contradictory > 0) {
    text += fmt::format(", {} contradict themselves ({})", result.designs.contradictory,
                        result.designs.first_contradiction);
  }
  std::map<std::string, std::int64_t> reasons;
  for (const Candidate& candidate : result.candidates) ++reasons[std::string(name_of(candidate.status))];
  for (const auto& [status, count] : reasons) text += fmt::format(", {} {}", count, status);
  text += fmt::format("; of {} plans on them", result.plans.enumerated);
  if (result.plans.rejected.empty()) text += " none was possible";
  std::string separator = " ";
  for (const auto& [reason, count] : result.plans.rejected) {
    text += fmt::format("{}{} failed for {}", separator, count, reason);
    separator = ", ";
  }
  if (result.nearest_miss) text += "; nearest miss: " + result.nearest_miss->text;
  for (const Candidate& candidate : result.candidates) {
    if (candidate.status != CandidateStatus::failed) continue;
    text += "; first failure: " + candidate.reason;
    break;
  }
  return text;
}

}  // namespace tandem
