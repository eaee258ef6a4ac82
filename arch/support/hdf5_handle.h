// SPDX-License-Identifier: Apache-2.0
// What the parts of the HDF5 wrapper share; not for users of it.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/support/hdf5.h"

namespace tandem::hdf5 {

/// Owns one HDF5 identifier of any class.
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  [[nodiscard]] hid_t get() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

/// Where a call acts, for its error message.
struct Place {
  std::string_view file, object;
};

/// std::runtime_error: "run.h5: /events/start_ps: cannot write: <innermost cause that HDF5 gives>".
[[noreturn]] void fail(Place place, std::string_view action);
/// The handle, or fail() for a negative identifier.
Handle checked(hid_t id, Place place, std::string_view action);
void check(herr_t status, Place place, std::string_view action);

Handle string_type(Place place);                 ///< variable-length UTF-8
Handle fixed_text_type(int width, Place place);  ///< null-padded UTF-8
Handle file_type(const Column& column, Place place);
Handle memory_type(const Column& column, Place place);
std::size_t cell_size(const Column& column);

void write_attribute(const Handle& object, const std::string& name, std::int64_t value, Place place);
void write_attribute(const Handle& object, const std::string& name, double value, Place place);
void write_attribute(const Handle& object, const std::string& name, std::string_view value, Place place);
std::variant<std::int64_t, double, std::string> read_attribute(const Handle& object, const std::string& name,
                                                               Place place);

inline constexpr const char* kRowsAttribute = "rows";
inline constexpr const char* kUnitAttribute = "unit";
inline constexpr const char* kDescriptionAttribute = "description";

struct File::State {
  std::string name;
  std::shared_ptr<Handle> file;  ///< table writers keep it open
  bool follows_writer = false;   ///< opened while somebody writes (or died writing): metadata must be read afresh

  bool readers_follow = false;  ///< start_swmr() was called

  [[nodiscard]] Place place(std::string_view object) const { return {name, object}; }
  [[nodiscard]] Handle open_object(const std::string& path) const;
  /// HDF5 would make new objects in SWMR mode, but readers could then see a broken file.
  void require_no_followers(std::string_view object) const;
  void require_rewritable(const Handle& object, const std::string& path, const std::string& attribute) const;
};

}  // namespace tandem::hdf5
