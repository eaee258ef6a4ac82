// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

/// Exit codes of the command line.
enum class ExitCode { done = 0, cannot = 1, bad_input = 2, internal = 3, interrupted = 130 };

/// One complaint about an input. Prints as
/// `file:line:column: path.to.key: problem; expected ...; did you mean ...?`
struct Diagnostic {
  std::string file;
  int line = 0;    ///< from 1; 0: not known
  int column = 0;  ///< from 1; 0: not known
  std::string path;
  std::string problem;
  std::string expected;    ///< may be empty
  std::string suggestion;  ///< may be empty

  [[nodiscard]] std::string text() const;
};

/// Wrong input of a user; carries every diagnostic found, one line each in what(). Exit code 2.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<Diagnostic> diagnostics);
  explicit ConfigError(const std::string& problem);
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Foreign text as shown in a message: in single quotes, control characters escaped, long text shortened.
std::string in_quotes(std::string_view text);

/// The question was sound but the answer is "cannot": out of memory, no plan, nothing fits. Exit code 1.
class InfeasibleError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tandem
