// SPDX-License-Identifier: Apache-2.0
// Comma-separated text as RFC 4180 has it, with the position of every field for messages.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

struct CsvField {
  std::string text;
  int line = 0, column = 0;  ///< where it begins, from 1
};

/// A header and rows of equally many fields. A comma that ends every line, blank lines, a byte-order mark, CRLF and
/// lone CR line ends are accepted; quoted fields may hold commas, doubled quotes and line breaks.
struct CsvTable {
  std::string file;
  std::vector<std::string> header;
  std::vector<std::vector<CsvField>> rows;

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// ConfigError with file:line:column for an unclosed quote, text after a closing quote, a quote inside a bare field, a
/// row of another length than the header, a repeated or empty column name, a NUL byte, or a missing header.
CsvTable parse_csv(std::string_view text, const std::string& file);
/// ConfigError also for a missing or unreadable file and one beyond 1 GiB.
CsvTable load_csv(const std::filesystem::path& file);

/// One row of a table, read by column name.
class CsvRow {
 public:
  CsvRow(const CsvTable& table, std::size_t row) : table_(&table), row_(row) {}

  [[nodiscard]] bool has(std::string_view column) const;          ///< the column exists and is not blank here
  [[nodiscard]] std::string text(std::string_view column) const;  ///< empty if the column is absent
  /// ConfigError naming the position if the field is blank or no finite number.
  [[nodiscard]] double number(std::string_view column) const;
  [[nodiscard]] std::int64_t integer(std::string_view column) const;                ///< "3" and "3.0" alike
  [[nodiscard]] std::optional<double> maybe_number(std::string_view column) const;  ///< empty if blank
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(std::string_view column) const;
  [[nodiscard]] const std::string& file() const { return table_->file; }

 private:
  [[nodiscard]] const CsvField* field(std::string_view column) const;

  const CsvTable* table_;
  std::size_t row_;
};

/// A field as it must be written: quoted only where that is needed.
std::string csv_quoted(std::string_view text);

}  // namespace tandem
