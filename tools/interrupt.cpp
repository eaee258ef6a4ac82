// SPDX-License-Identifier: Apache-2.0
#include "tools/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "arch/support/error.h"

namespace tandem {
namespace {

// A signal handler can reach nothing but a static.
volatile std::sig_atomic_t signals_seen = 0;

extern "C" void on_signal(int /*signal*/) {
  if (signals_seen != 0) _exit(static_cast<int>(ExitCode::interrupted));
  signals_seen = 1;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
}

bool interrupted() { return signals_seen != 0; }

}  // namespace tandem
