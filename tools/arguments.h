// SPDX-License-Identifier: Apache-2.0
// What stands on a command line, checked against what a verb accepts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// One flag of a verb.
struct Flag {
  std::string name;   ///< "global-batch-size", without dashes
  char letter = 0;    ///< short form, or none
  std::string value;  ///< what stands for its value in --help; empty: a switch
  std::string help;
  bool repeatable = false;
  std::vector<std::string> aliases;  ///< other spellings, accepted and mapped to `name`
};

struct FlagGroup {
  std::string title;
  std::vector<Flag> flags;
};

/// Values by canonical flag name. Readers throw ConfigError naming the flag.
class Arguments {
 public:
  /// `words`: after the verb. Throws ConfigError for an unknown flag (with the nearest known one), a missing value, a
  /// flag given twice that is not repeatable, or more than `most_files` plain words.
  Arguments(std::span<const std::string> words, const std::vector<FlagGroup>& groups, std::size_t most_files);

  [[nodiscard]] bool has(std::string_view flag) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view flag) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view flag) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view flag) const;   ///< any whole number
  [[nodiscard]] std::optional<std::int64_t> positive(std::string_view flag) const;  ///< whole and above zero
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> files_;
};

/// The flags as --help shows them, one group after another.
std::string describe(const std::vector<FlagGroup>& groups);

}  // namespace tandem
