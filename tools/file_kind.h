// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/support/enum_names.h"

namespace tandem {

/// What a file of ours, or of our users, is.
enum class FileKind { chip, cluster, technology, model, plan, search, run, trace, candidates };

template <>
struct EnumNames<FileKind> {
  static constexpr auto values =
      std::to_array<std::pair<FileKind, std::string_view>>({{FileKind::chip, "chip"},
                                                            {FileKind::cluster, "cluster"},
                                                            {FileKind::technology, "technology"},
                                                            {FileKind::model, "model"},
                                                            {FileKind::plan, "plan"},
                                                            {FileKind::search, "search"},
                                                            {FileKind::run, "run"},
                                                            {FileKind::trace, "trace"},
                                                            {FileKind::candidates, "candidates"}});
};

struct KnownFile {
  FileKind kind{};
  std::filesystem::path path;
  std::vector<std::filesystem::path> others;  ///< shipped files of other kinds with the same name
};

/// Finds a file, folder or shipped config ("a100-80gb"; the first kind in the order above if several have the name) and
/// tells its kind by content. ConfigError if there is none, or
/// if it is of no kind known.
KnownFile recognise(const std::string& name_or_path);

/// A model's config.json: the file itself, a folder that holds one, or a shipped model's name.
std::filesystem::path find_model(const std::string& name_or_path);

}  // namespace tandem
