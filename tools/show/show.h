// SPDX-License-Identifier: Apache-2.0
// One screen about one thing, as text and as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "arch/cluster.h"
#include "arch/technology.h"
#include "workloads/model.h"
#include "workloads/plan.h"

namespace tandem {

struct Shown {
  std::string text;
  std::string json;  ///< one document
};

Shown show_chip(const Chip& chip);
Shown show_cluster(const Cluster& cluster);
Shown show_technology(const Technology& technology);
Shown show_model(const TransformerModel& model, const Plan& plan);
Shown show_plan(const Plan& plan);
Shown show_search(const std::filesystem::path& file);
Shown show_run(const std::filesystem::path& directory);
Shown show_candidates(const std::filesystem::path& file);
Shown show_trace(const std::filesystem::path& file);

}  // namespace tandem
