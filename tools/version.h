// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem {

/// One fact a line: version, git id, build type, compiler, and every library, HDF5 also as found at run time.
std::string version_text();
/// "0.1.0 (git id)".
std::string short_version();

}  // namespace tandem
