// SPDX-License-Identifier: Apache-2.0
#include "tools/session.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "arch/support/error.h"

namespace tandem {

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written) return;
  const int cause = errno;
  if (cause == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  throw ConfigError(fmt::format("standard output cannot be written: {}", std::strerror(cause)));
}

void note(const Session& session, std::string_view text) {
  if (!session.quiet) fmt::print(stderr, "note: {}\n", text);
}

}  // namespace tandem
