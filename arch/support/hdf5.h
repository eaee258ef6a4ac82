// SPDX-License-Identifier: Apache-2.0
// A thin RAII layer over the HDF5 C library, with the table layout that all of tandem's files use: a group with one 1-D
// data set per column (chunked, shuffled, compressed), a `unit` attribute on each, and the number of committed rows in
// the group's attribute `rows`, rewritten after every flush.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tandem::hdf5 {

enum class ColumnType { int64, int32, int8, float64, text };  ///< text: fixed-size UTF-8, given by `width`

struct Column {
  std::string name;
  ColumnType type = ColumnType::int64;
  std::string unit;  ///< "ps", "B", "1", ...
  std::string description;
  int width = 0;  ///< bytes of a text column
};

using Cell = std::variant<std::int64_t, double, std::string>;

class File;

/// An appendable table. Rows are buffered and written a chunk at a time; flush() commits them.
class TableWriter {
 public:
  TableWriter(TableWriter&&) noexcept;
  TableWriter& operator=(TableWriter&&) noexcept;
  ~TableWriter();

  /// One cell per column, in order. A text longer than its column's width is a std::length_error.
  void append(std::span<const Cell> row);
  void append(std::initializer_list<Cell> row) { append(std::span(row.begin(), row.size())); }
  /// Fast path for tables of integers only.
  void append_integers(std::span<const std::int64_t> row);
  void flush();
  [[nodiscard]] std::int64_t rows() const;  ///< appended so far, committed or not

 private:
  friend class File;
  struct State;
  explicit TableWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A whole table in memory, as read back.
struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> data;  ///< [column][row], committed rows only
  [[nodiscard]] std::size_t rows() const { return data.empty() ? 0 : data.front().size(); }
  [[nodiscard]] const std::vector<Cell>& column(std::string_view name) const;  ///< std::out_of_range if absent
};

/// All failures of the library are std::runtime_error with file, object and cause.
class File {
 public:
  static File create(const std::filesystem::path& path);  ///< replaces an existing file
  static File open(const std::filesystem::path& path);    ///< read only; also live (SWMR) and killed files
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

  void set_attribute(const std::string& object, const std::string& name, std::int64_t value);
  void set_attribute(const std::string& object, const std::string& name, double value);
  void set_attribute(const std::string& object, const std::string& name, std::string_view value);
  [[nodiscard]] std::variant<std::int64_t, double, std::string> attribute(const std::string& object,
                                                                          const std::string& name) const;
  [[nodiscard]] bool exists(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> children(const std::string& group) const;  ///< sorted

  void create_group(const std::string& path);                       ///< with parents
  void write_text(const std::string& path, std::string_view text);  ///< one string data set
  [[nodiscard]] std::string read_text(const std::string& path) const;

  TableWriter create_table(const std::string& path, std::vector<Column> columns, std::int64_t chunk_rows = 65536);
  [[nodiscard]] Table read_table(const std::string& path) const;
  [[nodiscard]] std::int64_t committed_rows(const std::string& path) const;
  /// One integer column, rows [first, first + count) of the committed ones.
  [[nodiscard]] std::vector<std::int64_t> read_integers(const std::string& table, const std::string& column,
                                                        std::int64_t first, std::int64_t count) const;

  /// From here on readers may follow the file; no new objects or attributes can be made.
  void start_swmr();
  void flush();

 private:
  struct State;
  explicit File(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// "1.10.8" of the headers built with, and of the library at run time.
std::string header_version();
std::string library_version();

}  // namespace tandem::hdf5
