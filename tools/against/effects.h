// SPDX-License-Identifier: Apache-2.0
// Effects of the model of a training iteration that can be switched off, to see what each is worth.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arch/cluster.h"
#include "workloads/plan.h"

namespace tandem {

struct ModelEffect {
  std::string_view name, what;
  void (*switch_off)(Plan& plan, Cluster& cluster) = nullptr;
};

const std::vector<ModelEffect>& model_effects();

/// ConfigError that lists the effects for a name that is none.
void require_effects(const std::vector<std::string>& names);

void switch_off(const std::vector<std::string>& names, Plan& plan, Cluster& cluster);

}  // namespace tandem
