// SPDX-License-Identifier: Apache-2.0
#include "arch/support/source_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/support/error.h"

namespace tandem {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_continuation(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

/// Length of the well-formed UTF-8 sequence at the start of `text`, or 0 (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : '\0'); };
  const unsigned char first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !is_continuation(second)) return 0;
  if (first < 0xE0) return 2;
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if (!is_continuation(byte(2))) return 0;
  if (first < 0xF0) return 3;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return is_continuation(byte(3)) ? 4 : 0;
}

bool is_text_byte(unsigned char byte) {
  return (byte >= 0x20 && byte != 0x7F) || byte == '\t' || byte == '\n' || byte == '\r';
}

}  // namespace

SourcePosition PositionFinder::at(std::size_t offset) {
  offset = std::min(offset, text_.size());
  for (; scanned_ < offset; ++scanned_) {
    if (text_[scanned_] != '\n') continue;
    ++line_;
    line_start_ = scanned_ + 1;
  }
  return {line_, static_cast<int>(offset - line_start_) + 1};
}

void throw_at(const std::string& file, SourcePosition position, std::string problem, std::string expected) {
  throw ConfigError(
      {Diagnostic{file, position.line, position.column, {}, std::move(problem), std::move(expected), {}}});
}

std::string_view checked_source(std::string_view text, const std::string& file, std::size_t max_bytes) {
  if (text.size() > max_bytes) {
    throw ConfigError(
        {Diagnostic{file, 0, 0, {}, "is too large", fmt::format("at most {} MiB", max_bytes >> 20U), {}}});
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw_at(file, {}, "is UTF-16 text", "UTF-8 text");
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = sequence_length(text.substr(i));
    if (length == 0 || !is_text_byte(byte)) {
      throw_at(file, PositionFinder(text).at(i),
               length == 0 ? fmt::format("byte 0x{:02x} is not valid UTF-8", byte)
                           : fmt::format("control character 0x{:02x}: this is not a text file", byte),
               "UTF-8 text");
    }
    i += length;
  }
  return text;
}

}  // namespace tandem
