// SPDX-License-Identifier: Apache-2.0
#include "tools/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

#include "arch/support/error.h"

namespace tandem {
namespace {

// A signal handler can reach nothing but a static.
volatile std::sig_atomic_t signals_seen = 0;
timespec first_seen{};

/// `timeout` and some shells signal a process and then its whole group: that is one request, not two.
bool repeats_the_first() {
  constexpr long kTogetherNanoseconds = 250'000'000;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long elapsed = (now.tv_sec - first_seen.tv_sec) * 1'000'000'000 + (now.tv_nsec - first_seen.tv_nsec);
  return elapsed < kTogetherNanoseconds;
}

extern "C" void on_signal(int /*signal*/) {
  if (signals_seen != 0) {
    if (repeats_the_first()) return;
    _exit(static_cast<int>(ExitCode::interrupted));
  }
  clock_gettime(CLOCK_MONOTONIC, &first_seen);
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
