// SPDX-License-Identifier: Apache-2.0
// What the search asks of its worker processes. A task is its own key in the journal, so it names its inputs in full.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/architecture_search.h"
#include "search/worker_pool.h"

namespace tandem {

/// Stands for the baseline's machine where an architecture is due.
inline constexpr std::int64_t kBaseline = -1;

std::string place_task(std::int64_t architecture);
std::string predict_task(std::int64_t architecture, const Plan& plan);
std::string simulate_task(std::int64_t architecture, const Plan& plan);
std::string trace_task(std::int64_t architecture, const Plan& plan, const std::string& file);

/// Answer to a predict, simulate or trace task.
struct Evaluation {
  Throughput throughput;
  TimeByCause by_cause;
  std::vector<std::string> assumptions;
};
nlohmann::json evaluation_json(const Answer& answer);
Evaluation evaluation_from_json(const nlohmann::json& json);

/// A worker's reply as the journal keeps it. Reading back: ConfigError naming the task if the journal does not fit.
nlohmann::json reply_json(const WorkerReply& reply);
WorkerReply reply_from_json(const nlohmann::json& json, const std::string& task);

/// Carries tasks out; `designs` are those of the search's enumeration. InfeasibleError if a plan does not fit.
class TaskRunner {
 public:
  TaskRunner(const SearchConfig& config, const std::vector<DesignPoint>& designs, Evaluator& evaluator);
  [[nodiscard]] std::string run(const std::string& task) const;
  [[nodiscard]] const Placer& placer() const { return placer_; }

 private:
  [[nodiscard]] Cluster cluster_of(std::int64_t architecture) const;
  [[nodiscard]] PlacementResult place_on(std::int64_t architecture) const;

  const SearchConfig& config_;
  const std::vector<DesignPoint>& designs_;
  Evaluator& evaluator_;
  Placer placer_;
};

/// The position in `designs` of an enumeration index; std::out_of_range if it was left out.
std::size_t position_of(const std::vector<DesignPoint>& designs, std::int64_t architecture);

}  // namespace tandem
