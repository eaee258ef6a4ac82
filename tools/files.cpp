// SPDX-License-Identifier: Apache-2.0
#include "tools/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "arch/support/error.h"

namespace tandem {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& problem) {
  throw ConfigError({Diagnostic{file.string(), 0, 0, "", problem, "", ""}});
}

}  // namespace

std::string read_file(const std::filesystem::path& file, std::int64_t largest) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) refuse(file, "no such file");
  if (std::filesystem::is_directory(status)) refuse(file, "a folder, where a file is expected");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(stream.gcount()));
    if (static_cast<std::int64_t>(text.size()) > largest) refuse(file, fmt::format("larger than {} bytes", largest));
  }
  if (stream.bad()) refuse(file, "cannot be read to its end");
  return text;
}

void write_file(const std::filesystem::path& file, std::string_view text) {
  // A device or pipe is written in place: there is nothing to rename over.
  std::error_code error;
  const bool special = std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error);
  std::filesystem::path target = file;
  if (!special) target += fmt::format(".{}.part", ::getpid());
  std::ofstream stream(target, std::ios::binary | std::ios::trunc);
  if (!stream) refuse(file, fmt::format("cannot be written: {}", std::strerror(errno)));
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream) {
    if (!special) std::filesystem::remove(target, error);
    refuse(file, "cannot be written to its end (disk full?)");
  }
  if (special) return;
  std::filesystem::rename(target, file, error);
  if (error) refuse(file, fmt::format("cannot be written: {}", error.message()));
}

void require_writable(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) refuse(file, "a folder, where a file is to be written");
  if (std::filesystem::exists(file, error)) {
    if (::access(file.c_str(), W_OK) != 0) refuse(file, fmt::format("cannot be written: {}", std::strerror(errno)));
    return;
  }
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, error)) {
    refuse(file, fmt::format("cannot be written: folder '{}' does not exist", folder.string()));
  }
  if (::access(folder.c_str(), W_OK) != 0) refuse(file, fmt::format("cannot be written: {}", std::strerror(errno)));
}

}  // namespace tandem
