// SPDX-License-Identifier: Apache-2.0
// What the YAML and JSON parsers share: positions in a text, and the checks before any parsing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

struct SourcePosition {
  int line = 1, column = 1;  ///< from 1; columns count bytes
};

/// Finds line and column of ascending byte offsets: linear over a whole parse.
class PositionFinder {
 public:
  explicit PositionFinder(std::string_view text) : text_(text) {}
  /// `offset` must not be less than in the call before.
  SourcePosition at(std::size_t offset);

 private:
  std::string_view text_;
  std::size_t line_start_ = 0, scanned_ = 0;
  int line_ = 1;
};

[[noreturn]] void throw_at(const std::string& file, SourcePosition position, std::string problem,
                           std::string expected = {});

/// Strips a byte order mark; throws ConfigError if the text is too large, binary or not UTF-8.
std::string_view checked_source(std::string_view text, const std::string& file, std::size_t max_bytes);

}  // namespace tandem
