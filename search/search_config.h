// SPDX-License-Identifier: Apache-2.0
// What `tandem search` is asked: configs/search/*.yaml. Format: docs/formats.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "arch/cluster.h"
#include "arch/design_space.h"
#include "search/plan_space.h"
#include "workloads/model.h"

namespace tandem {

/// What the answer is compared with: a machine and a plan that somebody chose by hand.
struct Baseline {
  Cluster cluster;  ///< of as many devices as the search's
  Plan plan;
};

/// How many of the best predicted candidates are simulated.
struct ValidationBudget {
  std::int64_t top = 8;                     ///< at most
  std::int64_t plans_per_architecture = 1;  ///< placements kept of one architecture
  Seconds time_limit{600};                  ///< of the clock; a simulation that runs longer counts as failed
};

struct SearchConfig {
  std::string name;
  TransformerModel model;
  std::string model_text;  ///< the model's file as read, copied into the run directory
  Cluster cluster;         ///< resized to `plans.devices`; its chip is the base of the design space
  DesignSpace space;
  PlanSpace plans;
  ValidationBudget validate;
  std::int64_t workers = 0;  ///< 0: one per core
  std::uint64_t seed = 0;    ///< recorded; nothing in the search draws at random
  std::optional<Baseline> baseline;
};

/// Throws ConfigError with all complaints about the file and the files it names.
SearchConfig load_search_config(const std::filesystem::path& file);

/// Resolved text that load_search_config accepts again beside `config/model.json`, `config/cluster.yaml`,
/// `config/technology.yaml`, `config/baseline.cluster.yaml` and `config/baseline.plan.yaml`.
std::string to_yaml(const SearchConfig& config);

}  // namespace tandem
