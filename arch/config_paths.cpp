// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "arch/config.h"
#include "arch/support/config_tree.h"
#include "arch/support/error.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// Names of the shipped files of one kind, sorted.
std::vector<std::string> shipped_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

fs::path config_directory() {
  if (const char* given = std::getenv("TANDEM_CONFIGS"); given != nullptr && *given != '\0') return given;
  std::error_code failed;
  const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    fs::path installed = executable.parent_path().parent_path() / "share" / "tandem" / "configs";
    if (fs::is_directory(installed, failed)) return installed;
  }
  return TANDEM_SOURCE_CONFIGS;
}

fs::path find_config(std::string_view kind, const std::string& name_or_path) {
  std::error_code failed;
  if (fs::is_regular_file(name_or_path, failed)) return name_or_path;
  const fs::path folder = config_directory() / kind;
  const bool is_bare = !name_or_path.empty() && name_or_path.find('/') == std::string::npos;
  if (is_bare) {
    for (const char* extension : {".yaml", ".json"}) {
      fs::path shipped = folder / (name_or_path + extension);
      if (fs::is_regular_file(shipped, failed)) return shipped;
    }
  }
  const std::vector<std::string> names = shipped_names(folder);
  throw ConfigError(
      {{.file = name_or_path,
        .path = {},
        .problem = fmt::format("no such {} file", kind),
        .expected = names.empty() ? "a path" : fmt::format("a path, or one of {}", fmt::join(names, ", ")),
        .suggestion = nearest_name(name_or_path, names)}});
}

}  // namespace tandem
