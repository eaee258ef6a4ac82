// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/simulate.h"
#include "tools/arguments.h"
#include "tools/progress.h"
#include "tools/session.h"

namespace tandem {

FlagGroup simulation_flags();  ///< --trace, --detail, --ideal, --fold, --no-fold, --seed

/// Checks that a trace file can be written. `progress`, if given, must outlive the options.
SimulationOptions simulation_options(const Arguments& arguments, const Session& session, Progress* progress);

}  // namespace tandem
