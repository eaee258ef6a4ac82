// SPDX-License-Identifier: Apache-2.0
// What a search has found so far, one JSON object a line, so that it can be taken up again after any end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tandem {

/// A journal as read back. Line 1 says whose it is; every further line is {"key": ..., "value": ...}.
struct JournalContents {
  std::string config_hash;
  std::map<std::string, nlohmann::json> entries;  ///< the first of equal keys counts
  std::uintmax_t complete_bytes = 0;              ///< up to the last whole line; what follows was being written
};

/// A last line cut short is left out. Any other damage is a ConfigError with its line; `file` is for its message.
JournalContents parse_journal(std::string_view text, const std::filesystem::path& file);
JournalContents read_journal(const std::filesystem::path& file);

/// Appends; each record is in the file when the call returns, and on the disk after sync().
class Journal {
 public:
  static Journal create(const std::filesystem::path& file, const std::string& config_hash);
  /// Goes on after the complete lines, which are all that remains of the file.
  static Journal resume(const std::filesystem::path& file, const JournalContents& contents);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  void record(const std::string& key, const nlohmann::json& value);
  void sync();

 private:
  explicit Journal(int descriptor) : descriptor_(descriptor) {}
  void write_line(const nlohmann::json& line);

  int descriptor_;
};

}  // namespace tandem
