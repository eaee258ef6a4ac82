// SPDX-License-Identifier: Apache-2.0
#include "tools/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <system_error>

#include "arch/support/error.h"
#include "tools/files.h"

namespace tandem {
namespace {

constexpr std::int64_t kLargestFile = std::int64_t{1} << 30;

/// Splits a text into records. One object a file; every function moves `position_` on.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  [[nodiscard]] bool at_end() const { return position_ >= text_.size(); }

  /// The fields up to the end of the record; a blank line is a record without fields.
  std::vector<CsvField> record() {
    std::vector<CsvField> fields;
    if (at_line_end()) {
      skip_line_end();
      return fields;
    }
    while (true) {
      fields.push_back(field());
      if (at_end() || peek() != ',') break;
      advance();
    }
    skip_line_end();
    return fields;
  }

  [[noreturn]] void fail(int line, int column, const std::string& problem, const std::string& expected = {}) const {
    throw ConfigError({Diagnostic{file_, line, column, "", problem, expected, ""}});
  }

 private:
  [[nodiscard]] char peek() const { return text_[position_]; }
  [[nodiscard]] bool at_line_end() const { return at_end() || peek() == '\n' || peek() == '\r'; }

  void advance() {
    const char c = text_[position_++];
    if (c == '\0') fail(line_, column_, "a NUL byte: this is no text file");
    const bool crlf = c == '\r' && !at_end() && peek() == '\n';
    if (c == '\n' || (c == '\r' && !crlf)) {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }

  void skip_line_end() {
    if (at_end()) return;
    const bool carriage_return = peek() == '\r';
    advance();
    if (carriage_return && !at_end() && peek() == '\n') advance();
  }

  CsvField field() {
    CsvField result{"", line_, column_};
    if (!at_end() && peek() == '"') {
      quoted(result);
    } else {
      bare(result);
    }
    return result;
  }

  void bare(CsvField& result) {
    while (!at_line_end() && peek() != ',') {
      if (peek() == '"')
        fail(line_, column_, "a quote inside a bare field", "the whole field in quotes, inner quotes doubled");
      result.text += peek();
      advance();
    }
  }

  void quoted(CsvField& result) {
    advance();
    while (true) {
      if (at_end()) fail(result.line, result.column, "a quoted field is never closed", "a closing quote");
      const char c = peek();
      advance();
      if (c != '"') {
        result.text += c;
      } else if (!at_end() && peek() == '"') {
        result.text += '"';
        advance();
      } else {
        break;
      }
    }
    if (!at_line_end() && peek() != ',')
      fail(line_, column_, "text after a closing quote", "a comma or the end of the line");
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t position_ = 0;
  int line_ = 1, column_ = 1;
};

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_blank(const std::vector<CsvField>& fields) {
  return fields.empty() || (fields.size() == 1 && trimmed(fields.front().text).empty());
}

std::vector<std::string> read_header(Scanner& scanner, const std::string& file) {
  while (!scanner.at_end()) {
    std::vector<CsvField> fields = scanner.record();
    if (is_blank(fields)) continue;
    if (fields.size() > 1 && trimmed(fields.back().text).empty()) fields.pop_back();
    std::vector<std::string> header;
    std::set<std::string> seen;
    for (const CsvField& field : fields) {
      std::string name(trimmed(field.text));
      if (name.empty()) scanner.fail(field.line, field.column, "a column without a name");
      if (!seen.insert(name).second)
        scanner.fail(field.line, field.column, fmt::format("column '{}' stands twice", name));
      header.push_back(std::move(name));
    }
    return header;
  }
  throw ConfigError({Diagnostic{file, 1, 1, "", "the file is empty", "a header line with column names", ""}});
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

CsvTable parse_csv(std::string_view text, const std::string& file) {
  CsvTable table;
  table.file = file;
  Scanner scanner(text, file);
  table.header = read_header(scanner, file);
  while (!scanner.at_end()) {
    std::vector<CsvField> fields = scanner.record();
    if (is_blank(fields)) continue;
    if (fields.size() == table.header.size() + 1 && trimmed(fields.back().text).empty()) fields.pop_back();
    if (fields.size() != table.header.size()) {
      scanner.fail(fields.front().line, 1, fmt::format("{} fields", fields.size()),
                   fmt::format("{} as in the header", table.header.size()));
    }
    table.rows.push_back(std::move(fields));
  }
  return table;
}

CsvTable load_csv(const std::filesystem::path& file) { return parse_csv(read_file(file, kLargestFile), file.string()); }

const CsvField* CsvRow::field(std::string_view column) const {
  const auto index = table_->column(column);
  return index ? &table_->rows[row_][*index] : nullptr;
}

bool CsvRow::has(std::string_view column) const {
  const CsvField* found = field(column);
  return found != nullptr && !trimmed(found->text).empty();
}

std::string CsvRow::text(std::string_view column) const {
  const CsvField* found = field(column);
  return found == nullptr ? std::string() : std::string(trimmed(found->text));
}

double CsvRow::number(std::string_view column) const {
  const CsvField* found = field(column);
  if (found == nullptr) {
    throw ConfigError({Diagnostic{table_->file, 1, 1, std::string(column), "the column is missing", "", ""}});
  }
  const std::string_view text = trimmed(found->text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw ConfigError({Diagnostic{table_->file, found->line, found->column, std::string(column),
                                  fmt::format("{} is no number", in_quotes(text)), "a finite decimal number", ""}});
  }
  return value;
}

std::int64_t CsvRow::integer(std::string_view column) const {
  const double value = number(column);
  if (value != std::floor(value) || std::abs(value) > 9.0e15) {
    const CsvField* found = field(column);
    throw ConfigError({Diagnostic{table_->file, found->line, found->column, std::string(column),
                                  fmt::format("{} is no whole number", in_quotes(trimmed(found->text))), "", ""}});
  }
  return static_cast<std::int64_t>(value);
}

std::optional<double> CsvRow::maybe_number(std::string_view column) const {
  return has(column) ? std::optional(number(column)) : std::nullopt;
}

std::optional<std::int64_t> CsvRow::maybe_integer(std::string_view column) const {
  return has(column) ? std::optional(integer(column)) : std::nullopt;
}

std::string csv_quoted(std::string_view text) {
  const bool edge = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!edge && text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace tandem
