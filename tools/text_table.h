// SPDX-License-Identifier: Apache-2.0
// Tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace tandem {

/// Columns as wide as their widest cell; the first is aligned left, the others right unless they hold words.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void add(std::vector<std::string> row);  ///< as many cells as the header
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text() const;  ///< with a line end after every row

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

std::string percent(double fraction);         ///< "12.3 %", "n/a" for NaN
std::string signed_percent(double fraction);  ///< "+12.3 %"

}  // namespace tandem
