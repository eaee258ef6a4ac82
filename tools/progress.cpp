// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tandem {
namespace {

constexpr std::chrono::milliseconds kQuietTime(1000);
constexpr std::chrono::milliseconds kInterval(200);

}  // namespace

Progress::Progress(const Session& session, std::string what)
    : what_(std::move(what)),
      enabled_(!session.quiet && ::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(double fraction, const std::string& detail) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < kQuietTime || now - last_ < kInterval) return;
  last_ = now;
  drawn_ = true;
  const double done = std::clamp(fraction, 0.0, 1.0);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string left = done > 0.01 ? fmt::format(", {:.0f} s left", seconds / done - seconds) : std::string();
  fmt::print(stderr, "\r\x1b[K{} {:3.0f} %{}{}{}", what_, done * 100, detail.empty() ? "" : "  ", detail, left);
  std::fflush(stderr);
}

}  // namespace tandem
