// SPDX-License-Identifier: Apache-2.0
// One stack of memory by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/hbm.h"

namespace tandem {

/// "HBM2", "HBM2E", "HBM3", "HBM3E": a generation; or a configuration of DRAMsim3 by its file's name. nullopt: none.
std::optional<Hbm> hbm_preset(std::string_view name);
std::vector<std::string> hbm_preset_names();

}  // namespace tandem
