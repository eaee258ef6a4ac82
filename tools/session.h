// SPDX-License-Identifier: Apache-2.0
// How one run of the command talks to its user: answers to standard output, everything else to standard error.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

struct Session {
  bool json = false;   ///< standard output is one JSON document and nothing else
  bool quiet = false;  ///< no notes, no progress
  int jobs = 1;        ///< worker processes
  std::string command_line;
};

/// Writes to standard output. A closed pipe ends the process by SIGPIPE as other tools do; a full disk is a
/// ConfigError.
void print(std::string_view text);
/// Something the user should know about what was assumed or replaced; silent with --quiet.
void note(const Session& session, std::string_view text);

}  // namespace tandem
