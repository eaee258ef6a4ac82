// SPDX-License-Identifier: Apache-2.0
// The verbs of `tandem`, and from a command line to an exit code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/support/error.h"
#include "tools/arguments.h"
#include "tools/session.h"

namespace tandem {

struct Verb {
  std::string_view name;
  std::string_view summary;   ///< one line for the list of verbs
  std::string_view usage;     ///< after "tandem NAME"
  std::string_view details;   ///< a paragraph for --help
  std::string_view examples;  ///< one a line
  std::vector<FlagGroup> flags;
  std::size_t most_files = 0;  ///< plain words it takes
  ExitCode (*run)(const Arguments&, const Session&) = nullptr;
};

Verb search_verb();
Verb predict_verb();
Verb simulate_verb();
Verb validate_verb();
Verb place_verb();
Verb show_verb();
Verb export_verb();

/// `words`: the command line without the program's own name. Errors are printed, never thrown.
int run_command_line(std::span<const std::string> words);

}  // namespace tandem
