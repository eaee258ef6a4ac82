// SPDX-License-Identifier: Apache-2.0
// Reading tables back, up to the rows that are committed.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "arch/support/hdf5_handle.h"

namespace tandem::hdf5 {
namespace {

extern "C" herr_t collect_in_order(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// In order of creation where the group knows it, else by name.
std::vector<std::string> column_names(const Handle& group, Place place) {
  std::vector<std::string> names;
  if (H5Literate(group.get(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect_in_order, &names) >= 0) return names;
  H5Eclear2(H5E_DEFAULT);
  names.clear();
  check(H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_in_order, &names), place,
        "cannot be listed");
  return names;
}

ColumnType column_type(const Handle& type, Place place) {
  const std::size_t size = H5Tget_size(type.get());
  switch (H5Tget_class(type.get())) {
    case H5T_INTEGER: return size == 1 ? ColumnType::int8 : size == 4 ? ColumnType::int32 : ColumnType::int64;
    case H5T_FLOAT: return ColumnType::float64;
    case H5T_STRING:
      if (H5Tis_variable_str(type.get()) == 0) return ColumnType::text;
      break;
    default: break;
  }
  throw std::runtime_error(fmt::format("{}: {}: is no column of numbers or fixed-size text", place.file, place.object));
}

std::string text_attribute(const Handle& object, const char* name, Place place) {
  if (H5Aexists(object.get(), name) <= 0) return {};
  const auto value = read_attribute(object, name, place);
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

Column describe(const Handle& data, const std::string& name, Place place) {
  const Handle type = checked(H5Dget_type(data.get()), place, "is no data set");
  Column column{name, column_type(type, place), text_attribute(data, kUnitAttribute, place),
                text_attribute(data, kDescriptionAttribute, place), 0};
  if (column.type == ColumnType::text) column.width = static_cast<int>(H5Tget_size(type.get()));
  return column;
}

struct Rows {
  std::int64_t first, count;
};

/// Rows [first, first + count) of a 1-D data set as bytes of `type`.
std::vector<char> read_rows(const Handle& data, const Handle& type, Rows rows, Place place) {
  std::vector<char> bytes(static_cast<std::size_t>(rows.count) * H5Tget_size(type.get()));
  if (rows.count == 0) return bytes;
  const auto start = static_cast<hsize_t>(rows.first), count = static_cast<hsize_t>(rows.count);
  const Handle space = checked(H5Dget_space(data.get()), place, "cannot be read");
  hsize_t extent = 0;
  if (H5Sget_simple_extent_ndims(space.get()) != 1 || H5Sget_simple_extent_dims(space.get(), &extent, nullptr) < 0 ||
      extent < start + count) {
    throw std::runtime_error(
        fmt::format("{}: {}: has {} rows where the table has {}", place.file, place.object, extent, start + count));
  }
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr), place, "cannot be read");
  const Handle memory = checked(H5Screate_simple(1, &count, nullptr), place, "cannot be read");
  check(H5Dread(data.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT, bytes.data()), place, "cannot be read");
  return bytes;
}

template <typename T>
std::vector<T> values(const std::vector<char>& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::vector<Cell> read_cells(const Handle& data, const Column& column, Rows rows, Place place) {
  std::vector<Cell> cells;
  cells.reserve(static_cast<std::size_t>(rows.count));
  if (column.type == ColumnType::text) {
    const std::vector<char> bytes = read_rows(data, memory_type(column, place), rows, place);
    const auto width = static_cast<std::size_t>(column.width);
    for (std::size_t at = 0; at < bytes.size(); at += width) {
      cells.emplace_back(std::string(bytes.data() + at, strnlen(bytes.data() + at, width)));
    }
  } else if (column.type == ColumnType::float64) {
    const Handle type(H5Tcopy(H5T_NATIVE_DOUBLE));
    for (const double value : values<double>(read_rows(data, type, rows, place))) cells.emplace_back(value);
  } else {
    const Handle type(H5Tcopy(H5T_NATIVE_INT64));
    for (const auto value : values<std::int64_t>(read_rows(data, type, rows, place))) cells.emplace_back(value);
  }
  return cells;
}

std::int64_t rows_attribute(const Handle& group, Place place) {
  const auto value = read_attribute(group, kRowsAttribute, place);
  const auto* rows = std::get_if<std::int64_t>(&value);
  if (rows == nullptr || *rows < 0) {
    throw std::runtime_error(fmt::format("{}: {}: its attribute rows is no row count", place.file, place.object));
  }
  return *rows;
}

}  // namespace

const std::vector<Cell>& Table::column(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  if (found == columns.end()) throw std::out_of_range(fmt::format("the table has no column {}", name));
  return data[static_cast<std::size_t>(found - columns.begin())];
}

std::int64_t File::committed_rows(const std::string& path) const {
  return rows_attribute(state_->open_object(path), state_->place(path));
}

Table File::read_table(const std::string& path) const {
  const Handle group = state_->open_object(path);
  const Rows rows{0, rows_attribute(group, state_->place(path))};
  Table table;
  for (const std::string& name : column_names(group, state_->place(path))) {
    const std::string column_path = fmt::format("{}/{}", path, name);
    const Handle data = state_->open_object(column_path);
    const Place place = state_->place(column_path);
    table.columns.push_back(describe(data, name, place));
    table.data.push_back(read_cells(data, table.columns.back(), rows, place));
  }
  return table;
}

std::vector<std::int64_t> File::read_integers(const std::string& table, const std::string& column, std::int64_t first,
                                              std::int64_t count) const {
  const std::int64_t rows = committed_rows(table);
  if (first < 0 || count < 0 || first > rows || count > rows - first) {
    throw std::out_of_range(
        fmt::format("{}: {}: rows {} to {} of {}", state_->name, table, first, first + count, rows));
  }
  const std::string path = fmt::format("{}/{}", table, column);
  const Place place = state_->place(path);
  const Handle data = state_->open_object(path);
  if (describe(data, column, place).type == ColumnType::float64 ||
      describe(data, column, place).type == ColumnType::text) {
    throw std::runtime_error(fmt::format("{}: {}: is no column of integers", state_->name, path));
  }
  const Handle type(H5Tcopy(H5T_NATIVE_INT64));
  return values<std::int64_t>(read_rows(data, type, {first, count}, place));
}

}  // namespace tandem::hdf5
