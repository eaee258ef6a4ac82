// SPDX-License-Identifier: Apache-2.0
#include "arch/support/hdf5_handle.h"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>

namespace tandem::hdf5 {
namespace {

extern "C" herr_t keep_first_cause(unsigned, const H5E_error2_t* error, void* cause) {
  auto& text = *static_cast<std::string*>(cause);
  if (text.empty() && error->desc != nullptr) text = error->desc;
  return 0;
}

std::string innermost_cause() {
  std::string cause;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first_cause, &cause);
  H5Eclear2(H5E_DEFAULT);
  return cause.empty() ? "unknown cause" : cause;
}

struct AttributeValue {
  hid_t file_type, memory_type;
  const void* data;
};

void write_value(const Handle& object, const std::string& name, const AttributeValue& value, Place place) {
  const htri_t exists = H5Aexists(object.get(), name.c_str());
  if (exists < 0) fail(place, "cannot look up attribute " + name);
  const Handle space = checked(H5Screate(H5S_SCALAR), place, "cannot describe attribute " + name);
  Handle attribute;
  if (exists > 0) {
    attribute = checked(H5Aopen(object.get(), name.c_str(), H5P_DEFAULT), place, "cannot open attribute " + name);
    const Handle type = checked(H5Aget_type(attribute.get()), place, "cannot read the type of attribute " + name);
    if (H5Tequal(type.get(), value.file_type) <= 0) {  // only a like value can take the old one's place
      attribute = Handle();
      check(H5Adelete(object.get(), name.c_str()), place, "cannot replace attribute " + name);
    }
  }
  if (attribute.get() < 0) {
    attribute = checked(H5Acreate2(object.get(), name.c_str(), value.file_type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                        place, "cannot create attribute " + name);
  }
  check(H5Awrite(attribute.get(), value.memory_type, value.data), place, "cannot write attribute " + name);
}

std::string read_string(const Handle& attribute, const Handle& type, Place place, const std::string& action) {
  if (H5Tis_variable_str(type.get()) > 0) {
    const Handle memory = string_type(place);
    char* text = nullptr;
    check(H5Aread(attribute.get(), memory.get(), static_cast<void*>(&text)), place, action);
    std::string out = text == nullptr ? "" : text;
    H5free_memory(text);
    return out;
  }
  std::string out(H5Tget_size(type.get()), '\0');
  check(H5Aread(attribute.get(), type.get(), out.data()), place, action);
  return out.substr(0, out.find('\0'));
}

}  // namespace

void fail(Place place, std::string_view action) {
  const std::string cause = innermost_cause();
  if (place.object.empty()) throw std::runtime_error(fmt::format("{}: {}: {}", place.file, action, cause));
  throw std::runtime_error(fmt::format("{}: {}: {}: {}", place.file, place.object, action, cause));
}

Handle checked(hid_t id, Place place, std::string_view action) {
  if (id < 0) fail(place, action);
  return Handle(id);
}

void check(herr_t status, Place place, std::string_view action) {
  if (status < 0) fail(place, action);
}

Handle string_type(Place place) {
  Handle type = checked(H5Tcopy(H5T_C_S1), place, "cannot make a text type");
  check(H5Tset_size(type.get(), H5T_VARIABLE), place, "cannot make a text type");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), place, "cannot make a text type");
  return type;
}

Handle fixed_text_type(int width, Place place) {
  Handle type = checked(H5Tcopy(H5T_C_S1), place, "cannot make a text type");
  check(H5Tset_size(type.get(), static_cast<std::size_t>(width)), place, "cannot make a text type");
  check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), place, "cannot make a text type");
  check(H5Tset_cset(type.get(), H5T_CSET_UTF8), place, "cannot make a text type");
  return type;
}

Handle file_type(const Column& column, Place place) {
  switch (column.type) {
    case ColumnType::int64: return Handle(H5Tcopy(H5T_STD_I64LE));
    case ColumnType::int32: return Handle(H5Tcopy(H5T_STD_I32LE));
    case ColumnType::int8: return Handle(H5Tcopy(H5T_STD_I8LE));
    case ColumnType::float64: return Handle(H5Tcopy(H5T_IEEE_F64LE));
    case ColumnType::text: return fixed_text_type(column.width, place);
  }
  return {};
}

Handle memory_type(const Column& column, Place place) {
  switch (column.type) {
    case ColumnType::int64: return Handle(H5Tcopy(H5T_NATIVE_INT64));
    case ColumnType::int32: return Handle(H5Tcopy(H5T_NATIVE_INT32));
    case ColumnType::int8: return Handle(H5Tcopy(H5T_NATIVE_INT8));
    case ColumnType::float64: return Handle(H5Tcopy(H5T_NATIVE_DOUBLE));
    case ColumnType::text: return fixed_text_type(column.width, place);
  }
  return {};
}

std::size_t cell_size(const Column& column) {
  switch (column.type) {
    case ColumnType::int64:
    case ColumnType::float64: return 8;
    case ColumnType::int32: return 4;
    case ColumnType::int8: return 1;
    case ColumnType::text: return static_cast<std::size_t>(column.width);
  }
  return 0;
}

void write_attribute(const Handle& object, const std::string& name, std::int64_t value, Place place) {
  write_value(object, name, {H5T_STD_I64LE, H5T_NATIVE_INT64, &value}, place);
}

void write_attribute(const Handle& object, const std::string& name, double value, Place place) {
  write_value(object, name, {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value}, place);
}

void write_attribute(const Handle& object, const std::string& name, std::string_view value, Place place) {
  const Handle type = string_type(place);
  const std::string text(value);
  const char* data = text.c_str();
  write_value(object, name, {type.get(), type.get(), static_cast<const void*>(&data)}, place);
}

std::variant<std::int64_t, double, std::string> read_attribute(const Handle& object, const std::string& name,
                                                               Place place) {
  const std::string action = "cannot read attribute " + name;
  const Handle attribute = checked(H5Aopen(object.get(), name.c_str(), H5P_DEFAULT), place, action);
  const Handle type = checked(H5Aget_type(attribute.get()), place, action);
  const Handle space = checked(H5Aget_space(attribute.get()), place, action);
  const H5T_class_t kind = H5Tget_class(type.get());
  if (H5Sget_simple_extent_npoints(space.get()) == 1) {
    if (kind == H5T_STRING) return read_string(attribute, type, place, action);
    if (kind == H5T_INTEGER) {
      std::int64_t value = 0;
      check(H5Aread(attribute.get(), H5T_NATIVE_INT64, &value), place, action);
      return value;
    }
    if (kind == H5T_FLOAT) {
      double value = 0;
      check(H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value), place, action);
      return value;
    }
  }
  throw std::runtime_error(fmt::format("{}: {}: {}: it is no single number or text", place.file, place.object, action));
}

}  // namespace tandem::hdf5
