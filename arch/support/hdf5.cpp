// SPDX-License-Identifier: Apache-2.0
#include "arch/support/hdf5.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <system_error>

#include "arch/support/hdf5_handle.h"

namespace tandem::hdf5 {
namespace {

Handle latest_format(Place place) {
  Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), place, "cannot set up");
  check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), place, "cannot set up");
  return access;
}

Handle with_parents(Place place) {
  Handle links = checked(H5Pcreate(H5P_LINK_CREATE), place, "cannot set up");
  check(H5Pset_create_intermediate_group(links.get(), 1), place, "cannot set up");
  return links;
}

// HDF5 prints its errors by default; ours carry the cause in the exception.
void silence_library() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

void require_hdf5_file(const std::string& name) {
  std::error_code error;
  const auto status = std::filesystem::status(name, error);
  if (!std::filesystem::exists(status)) throw std::runtime_error(name + ": file not found");
  if (std::filesystem::is_directory(status)) throw std::runtime_error(name + ": is a directory, not an HDF5 file");
  const htri_t answer = H5Fis_hdf5(name.c_str());
  if (answer < 0) fail({name, {}}, "cannot be opened");
  if (answer == 0) throw std::runtime_error(name + ": is not an HDF5 file");
}

extern "C" herr_t collect_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

}  // namespace

Handle File::State::open_object(const std::string& path) const {
  Handle object = checked(H5Oopen(file->get(), path.c_str(), H5P_DEFAULT), place(path), "cannot be opened");
  if (follows_writer) check(H5Orefresh(object.get()), place(path), "cannot be read afresh");
  return object;
}

void File::State::require_no_followers(std::string_view object) const {
  if (!readers_follow) return;
  throw std::runtime_error(fmt::format("{}: {}: cannot be created once readers may follow the file", name, object));
}

void File::State::require_rewritable(const Handle& object, const std::string& path,
                                     const std::string& attribute) const {
  if (H5Aexists(object.get(), attribute.c_str()) <= 0) require_no_followers(path + "@" + attribute);
}

File::File(std::unique_ptr<State> state) : state_(std::move(state)) {}
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

File File::create(const std::filesystem::path& path) {
  silence_library();
  auto state = std::make_unique<State>();
  state->name = path.string();
  const Place place = state->place({});
  const Handle access = latest_format(place);
  state->file = std::make_shared<Handle>(
      checked(H5Fcreate(state->name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), place, "cannot be created"));
  return File(std::move(state));
}

File File::open(const std::filesystem::path& path) {
  silence_library();
  auto state = std::make_unique<State>();
  state->name = path.string();
  require_hdf5_file(state->name);
  // A file that is being written, or whose writer was killed, carries a mark that only SWMR readers get past.
  Handle file(H5Fopen(state->name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (file.get() < 0) {
    H5Eclear2(H5E_DEFAULT);
    file = checked(H5Fopen(state->name.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT), state->place({}),
                   "cannot be opened");
    state->follows_writer = true;
  }
  state->file = std::make_shared<Handle>(std::move(file));
  return File(std::move(state));
}

void File::set_attribute(const std::string& object, const std::string& name, std::int64_t value) {
  const Handle target = state_->open_object(object);
  state_->require_rewritable(target, object, name);
  write_attribute(target, name, value, state_->place(object));
}
void File::set_attribute(const std::string& object, const std::string& name, double value) {
  const Handle target = state_->open_object(object);
  state_->require_rewritable(target, object, name);
  write_attribute(target, name, value, state_->place(object));
}
void File::set_attribute(const std::string& object, const std::string& name, std::string_view value) {
  state_->require_no_followers(object + "@" + name);  // texts of variable length are not safe to rewrite then
  write_attribute(state_->open_object(object), name, value, state_->place(object));
}

std::variant<std::int64_t, double, std::string> File::attribute(const std::string& object,
                                                                const std::string& name) const {
  return read_attribute(state_->open_object(object), name, state_->place(object));
}

bool File::exists(const std::string& path) const {
  for (std::size_t end = 0; end != std::string::npos;) {  // HDF5 wants every parent to exist
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (part.empty() || part == "/") continue;
    if (H5Lexists(state_->file->get(), part.c_str(), H5P_DEFAULT) <= 0) {
      H5Eclear2(H5E_DEFAULT);
      return false;
    }
  }
  return true;
}

std::vector<std::string> File::children(const std::string& group) const {
  const Handle object = state_->open_object(group);
  std::vector<std::string> names;
  check(H5Literate(object.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_name, &names), state_->place(group),
        "cannot be listed");
  std::sort(names.begin(), names.end());
  return names;
}

void File::create_group(const std::string& path) {
  if (exists(path)) return;
  state_->require_no_followers(path);
  const Place place = state_->place(path);
  const Handle links = with_parents(place);
  checked(H5Gcreate2(state_->file->get(), path.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT), place,
          "cannot be created");
}

void File::write_text(const std::string& path, std::string_view text) {
  state_->require_no_followers(path);
  const Place place = state_->place(path);
  const Handle links = with_parents(place);
  const Handle type = string_type(place);
  const Handle space = checked(H5Screate(H5S_SCALAR), place, "cannot be created");
  const Handle data = checked(
      H5Dcreate2(state_->file->get(), path.c_str(), type.get(), space.get(), links.get(), H5P_DEFAULT, H5P_DEFAULT),
      place, "cannot be created");
  const std::string copy(text);
  const char* pointer = copy.c_str();
  check(H5Dwrite(data.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<const void*>(&pointer)), place,
        "cannot be written");
}

std::string File::read_text(const std::string& path) const {
  const Place place = state_->place(path);
  const Handle data = state_->open_object(path);
  const Handle type = checked(H5Dget_type(data.get()), place, "is no text");
  if (H5Tis_variable_str(type.get()) <= 0)
    throw std::runtime_error(fmt::format("{}: {}: is no text", state_->name, path));
  const Handle memory = string_type(place);
  char* text = nullptr;
  check(H5Dread(data.get(), memory.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(&text)), place,
        "cannot be read");
  std::string out = text == nullptr ? "" : text;
  H5free_memory(text);
  return out;
}

void File::start_swmr() {
  check(H5Fstart_swmr_write(state_->file->get()), state_->place({}), "cannot let readers follow (SWMR)");
  state_->readers_follow = true;
}

void File::flush() { check(H5Fflush(state_->file->get(), H5F_SCOPE_LOCAL), state_->place({}), "cannot be flushed"); }

std::string header_version() { return fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE); }

std::string library_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace tandem::hdf5
