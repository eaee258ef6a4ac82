// SPDX-License-Identifier: Apache-2.0
#include "arch/support/error.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace tandem {
namespace {

constexpr std::size_t kMaxLines = 100;
constexpr std::size_t kMaxQuotedBytes = 60;

std::string joined(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (std::size_t i = 0; i < diagnostics.size(); ++i) {
    if (i == kMaxLines) return text + fmt::format("\n... and {} more", diagnostics.size() - i);
    if (i > 0) text += '\n';
    text += diagnostics[i].text();
  }
  return text;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string Diagnostic::text() const {
  std::string out = file;
  if (line > 0) out += fmt::format("{}{}", out.empty() ? "line " : ":", line);
  if (line > 0 && column > 0) out += fmt::format(":{}", column);
  if (!out.empty()) out += ": ";
  if (!path.empty()) out += path + ": ";
  out += problem;
  if (!expected.empty()) out += "; expected " + expected;
  if (!suggestion.empty()) out += "; did you mean " + suggestion + "?";
  return out;
}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(joined(diagnostics)), diagnostics_(std::move(diagnostics)) {}

ConfigError::ConfigError(const std::string& problem) : std::runtime_error(problem) {
  diagnostics_.emplace_back().problem = problem;
}

std::string in_quotes(std::string_view text) {
  std::size_t length = text.size();
  if (length > kMaxQuotedBytes) {
    length = kMaxQuotedBytes;
    while (length > 0 && continues_character(text[length])) --length;
  }
  std::string out = "'";
  for (const char c : text.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (length < text.size() ? "...'" : "'");
}

}  // namespace tandem
