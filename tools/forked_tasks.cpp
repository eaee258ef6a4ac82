// SPDX-License-Identifier: Apache-2.0
#include "tools/forked_tasks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tandem {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;
using Task = std::function<std::string(std::size_t)>;

/// Reply on the wire: `ok`, then `size` bytes of text.
struct ReplyHeader {
  std::uint64_t ok = 0, size = 0;
};

/// False at end of file or on an error.
bool read_all(int fd, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(fd, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t put = ::write(fd, at, size);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

TaskOutcome guarded(const Task& task, std::size_t index) {
  try {
    return {true, task(index)};
  } catch (const std::exception& error) {
    return {false, error.what()};
  } catch (...) {
    return {false, "an exception of unknown type"};
  }
}

[[noreturn]] void serve(int requests, int replies, const Task& task, pid_t parent) {
  // Ctrl-C reaches the whole group; the parent decides what becomes of its workers.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) _exit(0);
  std::uint64_t index = 0;
  while (read_all(requests, &index, sizeof index)) {
    const TaskOutcome outcome = guarded(task, static_cast<std::size_t>(index));
    const ReplyHeader header{outcome.ok ? 1U : 0U, outcome.text.size()};
    if (!write_all(replies, &header, sizeof header) || !write_all(replies, outcome.text.data(), outcome.text.size()))
      break;
  }
  _exit(0);
}

struct Worker {
  pid_t pid = -1;
  int requests = -1, replies = -1;
  std::optional<std::size_t> task;
  SteadyTime started;
};

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return ends;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("the worker was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("the worker ended with status {}", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/// The workers of one run_forked.
class Pool {
 public:
  Pool(std::size_t count, const Task& task, const ForkedOptions& options)
      : task_(task), options_(options), outcomes_(count, TaskOutcome{false, "cancelled"}) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (Worker& worker : workers_) end(worker);
  }

  std::vector<TaskOutcome> run() {
    const std::size_t wanted = std::min(outcomes_.size(), static_cast<std::size_t>(std::max(options_.jobs, 1)));
    // The vector must not move while children hold copies of its descriptors.
    workers_.resize(wanted);
    for (Worker& worker : workers_) {
      start(worker);
      assign(worker);
    }
    while (finished_ < outcomes_.size()) {
      if (options_.cancelled && options_.cancelled()) break;
      wait_for_replies();
      end_overdue();
    }
    return std::move(outcomes_);
  }

 private:
  void start(Worker& worker) {
    const auto requests = make_pipe();
    const auto replies = make_pipe();
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
      // A copy of another worker's request end would keep that worker waiting for ever.
      for (const Worker& other : workers_) close_ends(other);
      ::close(requests[1]);
      ::close(replies[0]);
      serve(requests[0], replies[1], task_, parent);
    }
    ::close(requests[0]);
    ::close(replies[1]);
    worker = Worker{pid, requests[1], replies[0], std::nullopt, {}};
  }

  static void close_ends(const Worker& worker) {
    if (worker.requests >= 0) ::close(worker.requests);
    if (worker.replies >= 0) ::close(worker.replies);
  }

  /// Ends a worker; returns how it ended.
  static std::string end(Worker& worker) {
    if (worker.pid < 0) return "";
    if (worker.task) ::kill(worker.pid, SIGKILL);
    close_ends(worker);
    int status = 0;
    while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
    }
    worker = Worker{};
    return describe_end(status);
  }

  void assign(Worker& worker) {
    if (next_ >= outcomes_.size()) return;
    worker.task = next_++;
    worker.started = std::chrono::steady_clock::now();
    const std::uint64_t index = *worker.task;
    write_all(worker.requests, &index, sizeof index);  // a failure shows as end of file on the reply pipe
  }

  void finish(std::size_t task, TaskOutcome outcome) {
    outcomes_[task] = std::move(outcome);
    ++finished_;
    if (options_.done) options_.done(finished_);
  }

  void wait_for_replies() {
    std::vector<pollfd> watched;
    std::vector<Worker*> owners;
    for (Worker& worker : workers_) {
      if (!worker.task) continue;
      watched.push_back({worker.replies, POLLIN, 0});
      owners.push_back(&worker);
    }
    constexpr int kPollMilliseconds = 100;
    if (::poll(watched.data(), watched.size(), kPollMilliseconds) <= 0) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents != 0) receive(*owners[i]);
    }
  }

  void receive(Worker& worker) {
    const std::size_t task = *worker.task;
    ReplyHeader header;
    std::string text;
    bool complete = read_all(worker.replies, &header, sizeof header);
    if (complete) {
      text.resize(static_cast<std::size_t>(header.size));
      complete = read_all(worker.replies, text.data(), text.size());
    }
    if (complete) {
      worker.task.reset();
      finish(task, {header.ok != 0, std::move(text)});
    } else {
      worker.task.reset();  // it is gone: nothing to kill
      finish(task, {false, end(worker)});
      if (next_ < outcomes_.size()) start(worker);
    }
    if (worker.pid >= 0) assign(worker);
  }

  void end_overdue() {
    const SteadyTime now = std::chrono::steady_clock::now();
    for (Worker& worker : workers_) {
      if (!worker.task || now - worker.started < options_.limit) continue;
      const std::size_t task = *worker.task;
      end(worker);
      finish(task, {false, fmt::format("took longer than {} s", options_.limit.count())});
      if (next_ >= outcomes_.size()) continue;
      start(worker);
      assign(worker);
    }
  }

  const Task& task_;
  const ForkedOptions& options_;
  std::vector<TaskOutcome> outcomes_;
  std::vector<Worker> workers_;
  std::size_t next_ = 0, finished_ = 0;
};

}  // namespace

std::vector<TaskOutcome> run_forked(std::size_t count, const Task& task, const ForkedOptions& options) {
  return Pool(count, task, options).run();
}

}  // namespace tandem
