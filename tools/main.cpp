// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "tools/command_line.h"
#include "tools/interrupt.h"

int main(int argc, char** argv) {
  tandem::install_signal_handlers();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return tandem::run_command_line(words);
}
