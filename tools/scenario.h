// SPDX-License-Identifier: Apache-2.0
// The question of predict, simulate and validate: a machine, a model and a plan, from files and flags.
#pragma once

#include <string>
#include <vector>

#include "arch/cluster.h"
#include "tools/arguments.h"
#include "tools/session.h"
#include "workloads/model.h"
#include "workloads/plan.h"
#include "workloads/program.h"

namespace tandem {

struct Scenario {
  Cluster cluster;
  TransformerModel model;
  Plan plan;
};

FlagGroup machine_flags();   ///< --cluster, --chip, --devices, --set
FlagGroup workload_flags();  ///< --model, --plan
FlagGroup plan_flags();      ///< --tp, --pp, ... and Megatron's names for them

/// The cluster that the flags name: a file, another chip in it, single fields of the chip replaced, another size.
/// `--chip` alone is a cluster of one. Says what it replaced.
Cluster machine_from(const Arguments& arguments, const Session& session);

/// A plan from `base` (a file's, with dp 0 if that does not say it; or null) with flags over it; dp and even stages
/// follow from the rest where they are not given. Everything replaced or derived is listed in `notes`.
struct ResolvedPlan {
  Plan plan;
  std::vector<std::string> notes;
};
ResolvedPlan resolve_plan(const Arguments& arguments, const Plan* base, const TransformerModel& model,
                          std::int64_t devices);

/// ConfigError with everything that does not fit together.
Scenario scenario_from(const Arguments& arguments, const Session& session);

/// The program of a scenario, mapped and within the chips' memory (else InfeasibleError).
Program program_of(const Scenario& scenario);

/// "tp 4, pp 2, dp 8, ..." in one line.
std::string plan_summary(const Plan& plan);

}  // namespace tandem
