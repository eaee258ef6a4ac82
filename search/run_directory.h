// SPDX-License-Identifier: Apache-2.0
// The folder that a search leaves behind. Layout: docs/formats.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "search/architecture_search.h"
#include "search/journal.h"

namespace tandem {

class RunDirectory {
 public:
  /// Makes the folder, or takes up an earlier run, and writes the resolved configs. A folder that holds anything is
  /// refused unless `existing` says what to do with it; overwriting removes the files of a run and no others; a journal
  /// of other inputs is refused (all ConfigError).
  RunDirectory(std::filesystem::path folder, ExistingRun existing, const SearchConfig& config,
               const std::string& simulator);

  [[nodiscard]] std::filesystem::path path(std::string_view name) const { return folder_ / name; }
  [[nodiscard]] const std::string& config_hash() const { return config_hash_; }
  /// What an earlier run found, by the key it was recorded under.
  [[nodiscard]] const nlohmann::json* found(const std::string& key) const;
  [[nodiscard]] Journal& journal() { return journal_; }

  /// Replaces a file as a whole: readers see the old one or the new one.
  void write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path folder_;
  std::string config_hash_;
  JournalContents earlier_;
  Journal journal_;
};

/// Fingerprint of everything that a search's result depends on.
std::string fingerprint(const SearchConfig& config, const std::string& simulator);

}  // namespace tandem
