// SPDX-License-Identifier: Apache-2.0
// A reader with every kind of key, for tests that feed it damaged files.
#pragma once

#include <string>

#include "arch/support/config_tree.h"

namespace tandem::test {

/// A file that read_chip_like accepts.
extern const char* const kChipLikeYaml;
extern const char* const kChipLikeJson;

/// Reads the tree; throws ConfigError for whatever is wrong with it.
void read_chip_like(ConfigNode tree, const std::string& file);

}  // namespace tandem::test
