// SPDX-License-Identifier: Apache-2.0
// Appending to tables. Rows are buffered by column up to the next chunk border, so that every chunk is compressed once
// (a flush in between writes the last chunk early and again when it is full).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "arch/support/hdf5_handle.h"

namespace tandem::hdf5 {
namespace {

constexpr unsigned kDeflateLevel = 1;  // with shuffling, higher levels cost much time and save little

struct ColumnBuffer {
  Column column;
  std::string path;
  Handle data, type;
  std::size_t cell = 0;  // bytes
  std::size_t used = 0;  // bytes
  std::vector<char> bytes;

  char* next_cell() {
    if (used == bytes.size()) bytes.resize(std::max(bytes.size() * 2, cell * 64));
    char* place = bytes.data() + used;
    used += cell;
    return place;
  }
  template <typename T>
  void push(T value) {
    std::memcpy(next_cell(), &value, sizeof value);
  }
  void push(const std::string& text) {
    char* place = next_cell();
    std::memset(place, 0, cell);
    std::memcpy(place, text.data(), text.size());
  }
};

struct Range {
  std::int64_t lowest, highest;
};
Range range_of(ColumnType type) {
  if (type == ColumnType::int8) return {-128, 127};
  if (type == ColumnType::int32)
    return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
}
bool is_integer(ColumnType type) { return type != ColumnType::float64 && type != ColumnType::text; }

[[noreturn]] void wrong_type(const ColumnBuffer& buffer) {
  throw std::invalid_argument(buffer.path + ": the cell's type is not the column's");
}

void require_fit(const ColumnBuffer& buffer, std::int64_t value) {
  if (buffer.column.type == ColumnType::int64) return;
  if (!is_integer(buffer.column.type)) wrong_type(buffer);
  const Range range = range_of(buffer.column.type);
  if (value < range.lowest || value > range.highest) {
    throw std::out_of_range(fmt::format("{}: {} does not fit the column", buffer.path, value));
  }
}

void require_fit(const ColumnBuffer& buffer, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    require_fit(buffer, *integer);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    if (buffer.column.type != ColumnType::text) wrong_type(buffer);
    if (text->size() > buffer.cell) {
      throw std::length_error(
          fmt::format("{}: a text of {} bytes in a column of {}", buffer.path, text->size(), buffer.cell));
    }
  } else if (buffer.column.type != ColumnType::float64) {
    wrong_type(buffer);
  }
}

void push_integer(ColumnBuffer& buffer, std::int64_t value) {
  switch (buffer.column.type) {
    case ColumnType::int32: return buffer.push(static_cast<std::int32_t>(value));
    case ColumnType::int8: return buffer.push(static_cast<std::int8_t>(value));
    default: return buffer.push(value);
  }
}

void push(ColumnBuffer& buffer, const Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return push_integer(buffer, *integer);
  if (const auto* real = std::get_if<double>(&cell)) return buffer.push(*real);
  buffer.push(std::get<std::string>(cell));
}

}  // namespace

struct TableWriter::State {
  std::string file_name, path;
  std::shared_ptr<Handle> file;
  Handle group;
  std::vector<ColumnBuffer> buffers;
  std::int64_t chunk_rows = 0, written = 0, buffered = 0, committed = 0;

  [[nodiscard]] Place place() const { return {file_name, path}; }
  void row_added() {
    if (++buffered == chunk_rows - written % chunk_rows) write();
  }
  void write();
  void write(ColumnBuffer& buffer) const;
  void commit();
};

void TableWriter::State::write(ColumnBuffer& buffer) const {
  const Place place{file_name, buffer.path};
  const auto start = static_cast<hsize_t>(written), count = static_cast<hsize_t>(buffered), end = start + count;
  check(H5Dset_extent(buffer.data.get(), &end), place, "cannot grow");
  const Handle space = checked(H5Dget_space(buffer.data.get()), place, "cannot grow");
  check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr), place, "cannot be written");
  const Handle memory = checked(H5Screate_simple(1, &count, nullptr), place, "cannot be written");
  check(H5Dwrite(buffer.data.get(), buffer.type.get(), memory.get(), space.get(), H5P_DEFAULT, buffer.bytes.data()),
        place, "cannot be written");
  buffer.used = 0;
}

void TableWriter::State::write() {
  if (buffered == 0) return;
  for (ColumnBuffer& buffer : buffers) write(buffer);
  written += buffered;
  buffered = 0;
}

void TableWriter::State::commit() {
  write();
  if (committed == written) return;
  // The row count goes last: whatever it promises is then in the file.
  for (const ColumnBuffer& buffer : buffers)
    check(H5Dflush(buffer.data.get()), {file_name, buffer.path}, "cannot be flushed");
  write_attribute(group, kRowsAttribute, written, place());
  check(H5Oflush(group.get()), place(), "cannot be flushed");
  committed = written;
}

TableWriter::TableWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TableWriter::TableWriter(TableWriter&&) noexcept = default;
TableWriter& TableWriter::operator=(TableWriter&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

TableWriter::~TableWriter() {
  if (state_ == nullptr) return;
  try {
    state_->commit();
  } catch (const std::exception&) {  // a destructor cannot complain; who wants to know calls flush()
  }
}

void TableWriter::append(std::span<const Cell> row) {
  State& state = *state_;
  if (row.size() != state.buffers.size()) throw std::invalid_argument(state.path + ": a row needs one cell per column");
  for (std::size_t i = 0; i < row.size(); ++i) require_fit(state.buffers[i], row[i]);
  for (std::size_t i = 0; i < row.size(); ++i) push(state.buffers[i], row[i]);
  state.row_added();
}

void TableWriter::append_integers(std::span<const std::int64_t> row) {
  State& state = *state_;
  if (row.size() != state.buffers.size()) throw std::invalid_argument(state.path + ": a row needs one cell per column");
  for (std::size_t i = 0; i < row.size(); ++i) require_fit(state.buffers[i], row[i]);
  for (std::size_t i = 0; i < row.size(); ++i) push_integer(state.buffers[i], row[i]);
  state.row_added();
}

void TableWriter::flush() { state_->commit(); }

std::int64_t TableWriter::rows() const { return state_->written + state_->buffered; }

namespace {

Handle create_table_group(const Handle& file, const std::string& path, Place place) {
  const Handle links = checked(H5Pcreate(H5P_LINK_CREATE), place, "cannot be created");
  check(H5Pset_create_intermediate_group(links.get(), 1), place, "cannot be created");
  const Handle creation = checked(H5Pcreate(H5P_GROUP_CREATE), place, "cannot be created");
  check(H5Pset_link_creation_order(creation.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), place,
        "cannot keep the order of its columns");
  return checked(H5Gcreate2(file.get(), path.c_str(), links.get(), creation.get(), H5P_DEFAULT), place,
                 "cannot be created");
}

Handle create_column(const Handle& group, const Column& column, hsize_t chunk_rows, Place place) {
  const hsize_t none = 0, unlimited = H5S_UNLIMITED;
  const Handle space = checked(H5Screate_simple(1, &none, &unlimited), place, "cannot be created");
  const Handle creation = checked(H5Pcreate(H5P_DATASET_CREATE), place, "cannot be created");
  check(H5Pset_chunk(creation.get(), 1, &chunk_rows), place, "cannot be chunked");
  check(H5Pset_shuffle(creation.get()), place, "cannot be shuffled");
  check(H5Pset_deflate(creation.get(), kDeflateLevel), place, "cannot be compressed");
  // The cache holds the one chunk that grows. Chunks are written whole and in order, so none comes back.
  const Handle access = checked(H5Pcreate(H5P_DATASET_ACCESS), place, "cannot be created");
  check(H5Pset_chunk_cache(access.get(), 3, chunk_rows * cell_size(column), 1.0), place, "cannot be cached");
  const Handle type = file_type(column, place);
  Handle data = checked(
      H5Dcreate2(group.get(), column.name.c_str(), type.get(), space.get(), H5P_DEFAULT, creation.get(), access.get()),
      place, "cannot be created");
  write_attribute(data, kUnitAttribute, std::string_view(column.unit), place);
  if (!column.description.empty()) {
    write_attribute(data, kDescriptionAttribute, std::string_view(column.description), place);
  }
  return data;
}

}  // namespace

TableWriter File::create_table(const std::string& path, std::vector<Column> columns, std::int64_t chunk_rows) {
  if (columns.empty() || chunk_rows <= 0)
    throw std::invalid_argument(path + ": a table needs columns and a chunk size");
  state_->require_no_followers(path);
  auto state = std::make_unique<TableWriter::State>();
  state->file_name = state_->name;
  state->path = path;
  state->file = state_->file;
  state->chunk_rows = chunk_rows;
  state->group = create_table_group(*state_->file, path, state->place());
  for (Column& column : columns) {
    if (column.type == ColumnType::text && column.width <= 0) {
      throw std::invalid_argument(fmt::format("{}/{}: a text column needs a width", path, column.name));
    }
    ColumnBuffer buffer;
    buffer.path = fmt::format("{}/{}", path, column.name);
    const Place place{state->file_name, buffer.path};
    buffer.data = create_column(state->group, column, static_cast<hsize_t>(chunk_rows), place);
    buffer.type = memory_type(column, place);
    buffer.cell = cell_size(column);
    buffer.column = std::move(column);
    state->buffers.push_back(std::move(buffer));
  }
  write_attribute(state->group, kRowsAttribute, std::int64_t{0}, state->place());
  return TableWriter(std::move(state));
}

}  // namespace tandem::hdf5
