// SPDX-License-Identifier: Apache-2.0
#include "arch/support/config_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <numeric>
#include <system_error>

#include "arch/support/source_text.h"
#include "arch/support/xz.h"

namespace tandem {
namespace {

constexpr std::size_t kLongestName = 64;  // longer texts are no misspelt names, and the distance is quadratic

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Optimal string alignment distance (edits and swaps of neighbours), capitals equal to small letters.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

[[noreturn]] void refuse(const std::string& file, std::string problem, std::string expected) {
  throw ConfigError({Diagnostic{file, 0, 0, {}, std::move(problem), std::move(expected), {}}});
}

std::string read_bounded(const std::filesystem::path& path, std::size_t limit) {
  const std::string file = path.string();
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) refuse(file, "file not found", {});
  if (std::filesystem::is_directory(status)) refuse(file, "is a directory", "a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse(file, "cannot be read", "a file with read permission");
  std::string text(limit + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) refuse(file, "reading failed", {});
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace

const ConfigNode* ConfigNode::find(std::string_view key) const {
  const auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.key == key; });
  return entry == entries.end() ? nullptr : &entry->value;
}

ConfigNode load_config_tree(const std::filesystem::path& file) {
  const bool compressed = file.extension() == ".xz";
  const bool json = (compressed ? file.stem() : file).extension() == ".json";
  const std::size_t limit = json ? kMaxJsonBytes : kMaxYamlBytes;
  std::string text = read_bounded(file, limit);
  if (compressed) text = decompress_xz(text, limit, file.string());
  return json ? parse_json(text, file.string()) : parse_yaml(text, file.string());
}

std::string nearest_name(std::string_view text, const std::vector<std::string>& known) {
  if (text.empty() || text.size() > kLongestName) return {};
  std::string nearest;
  std::size_t best = std::max<std::size_t>(1, text.size() / 3) + 1;
  for (const std::string& name : known) {
    const std::size_t difference = std::max(name.size(), text.size()) - std::min(name.size(), text.size());
    if (name.size() > kLongestName || difference >= best) continue;
    const std::size_t distance = edit_distance(text, name);
    if (distance < best && distance < std::max(name.size(), text.size())) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace tandem
