// SPDX-License-Identifier: Apache-2.0
#include "tools/text_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

namespace tandem {
namespace {

/// Characters on screen of UTF-8 text (continuation bytes take no room).
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

bool is_figure(const std::string& cell) {
  return cell.empty() || cell == "n/a" || cell == "-" || std::isdigit(static_cast<unsigned char>(cell.front())) != 0 ||
         (cell.size() > 1 && (cell.front() == '-' || cell.front() == '+'));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) : header_(std::move(header)) {}

void TextTable::add(std::vector<std::string> row) {
  if (row.size() != header_.size()) throw std::invalid_argument("a row of another width than its table");
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  const std::size_t columns = header_.size();
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (std::size_t c = 0; c < columns; ++c) {
    std::size_t width = width_of(header_[c]);
    bool figures = c > 0;
    for (const auto& row : rows_) {
      width = std::max(width, width_of(row[c]));
      figures = figures && is_figure(row[c]);
    }
    widths.push_back(width);
    right.push_back(figures);
  }
  std::string result;
  const auto write = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::string pad(widths[c] - width_of(row[c]), ' ');
      line += c == 0 ? "  " : "   ";
      line += right[c] ? pad + row[c] : row[c] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  };
  write(header_);
  for (const auto& row : rows_) write(row);
  return result;
}

std::string percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f} %", fraction * 100) : std::string("n/a");
}

std::string signed_percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:+.1f} %", fraction * 100) : std::string("n/a");
}

}  // namespace tandem
