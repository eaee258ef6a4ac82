// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

/// The text inside an .xz file's bytes. ConfigError (naming `file`) if they are damaged, cut short, or hold more than
/// `limit` bytes.
std::string decompress_xz(std::string_view bytes, std::size_t limit, const std::string& file);

}  // namespace tandem
