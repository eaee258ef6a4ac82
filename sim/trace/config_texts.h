// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "arch/cluster.h"
#include "workloads/program.h"

namespace tandem {

/// A resolved input as text, with its FNV-1a hash.
struct ConfigText {
  std::string name;  ///< "chip", "cluster", "model", "plan", "assumptions"
  std::string text;
  std::string hash;
};
std::vector<ConfigText> config_texts(const Cluster& cluster, const Program& program);

/// What every simulated answer rests on, whatever the input.
std::vector<std::string> modelling_assumptions(const Cluster& cluster);

/// The model's dimensions, one `name: value` a line (YAML).
std::string model_text(const TransformerModel& model);

}  // namespace tandem
