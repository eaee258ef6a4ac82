// SPDX-License-Identifier: Apache-2.0
#include "search/worker_pool.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "arch/support/error.h"

namespace tandem {
namespace {

using Outcome = WorkerReply::Outcome;
constexpr auto kPollInterval = 100;  // milliseconds between looks at the clock and at `cancelled`
constexpr std::size_t kHeader = sizeof(std::uint64_t);

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool send_message(int socket, std::string_view text) {
  const std::uint64_t size = text.size();
  std::string frame(kHeader, '\0');
  std::memcpy(frame.data(), &size, kHeader);
  frame += text;
  return send_all(socket, frame);
}

/// Takes one whole message off the front of `inbox`, if there is one.
std::optional<std::string> take_message(std::string& inbox) {
  if (inbox.size() < kHeader) return std::nullopt;
  std::uint64_t size = 0;
  std::memcpy(&size, inbox.data(), kHeader);
  if (inbox.size() - kHeader < size) return std::nullopt;
  std::string message = inbox.substr(kHeader, size);
  inbox.erase(0, kHeader + size);
  return message;
}

/// False at the end of the stream.
bool receive_some(int socket, std::string& inbox) {
  char buffer[65536];
  while (true) {
    const ssize_t got = ::recv(socket, buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    inbox.append(buffer, static_cast<std::size_t>(got));
    return true;
  }
}

WorkerReply answer(const WorkerPool::Handler& handler, const std::string& request) {
  try {
    return {Outcome::done, handler(request)};
  } catch (const InfeasibleError& error) {
    return {Outcome::infeasible, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::failed, error.what()};
  } catch (...) {
    return {Outcome::failed, "unknown exception"};
  }
}

/// The worker's life. Leaves without running the parent's destructors or exit handlers.
[[noreturn]] void serve(int socket, const WorkerPool::Handler& handler, pid_t parent) {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGTERM, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // it ended before we asked to be told
  std::string inbox;
  while (true) {
    const auto request = take_message(inbox);
    if (!request) {
      if (!receive_some(socket, inbox)) ::_exit(0);
      continue;
    }
    const WorkerReply reply = answer(handler, *request);
    if (!send_message(socket, static_cast<char>(reply.outcome) + reply.text)) ::_exit(0);
  }
}

std::string describe_exit(int status) {
  if (WIFSIGNALED(status)) {
    return std::string("ended by signal ") + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) +
           ")";
  }
  return "exited with status " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

}  // namespace

WorkerPool::WorkerPool(std::int64_t workers, Handler handler) : handler_(std::move(handler)) {
  for (std::int64_t i = 0; i < workers; ++i) workers_.push_back(spawn());
}

WorkerPool::~WorkerPool() {
  for (Worker& worker : workers_) end(worker, worker.request ? SIGKILL : 0);
}

WorkerPool::Worker WorkerPool::spawn() const {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw std::system_error(errno, std::generic_category(), "no socket for a worker process");
  }
  std::fflush(nullptr);  // or the child would print our pending output again
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int cause = errno;
    ::close(sockets[0]);
    ::close(sockets[1]);
    throw std::system_error(cause, std::generic_category(), "cannot fork a worker process");
  }
  if (pid == 0) {
    ::close(sockets[0]);
    for (const Worker& sibling : workers_) {
      if (sibling.socket >= 0) ::close(sibling.socket);  // else a sibling would not see the parent hang up
    }
    serve(sockets[1], handler_, parent);
  }
  ::close(sockets[1]);
  Worker worker;
  worker.pid = pid;
  worker.socket = sockets[0];
  return worker;
}

void WorkerPool::replace(Worker& worker) const { worker = spawn(); }

std::string WorkerPool::end(Worker& worker, int signal) {
  if (worker.pid < 0) return {};
  ::close(worker.socket);
  worker.socket = -1;
  if (signal != 0) ::kill(worker.pid, signal);
  int status = 0;
  while (::waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  worker.pid = -1;
  worker.request.reset();
  worker.inbox.clear();
  return describe_exit(status);
}

void WorkerPool::dispatch(const std::vector<std::string>& requests, std::size_t& next) {
  for (Worker& worker : workers_) {
    if (next >= requests.size()) return;
    if (worker.request) continue;
    if (worker.pid < 0) replace(worker);
    // A failed send shows as the end of the stream when the answer is collected.
    send_message(worker.socket, requests[next]);
    worker.request = next++;
    worker.started = std::chrono::steady_clock::now();
  }
}

void WorkerPool::wait_for_input() const {
  std::vector<pollfd> waits;
  for (const Worker& worker : workers_) {
    if (worker.request) waits.push_back({worker.socket, POLLIN, 0});
  }
  ::poll(waits.data(), waits.size(), kPollInterval);
}

std::optional<WorkerReply> WorkerPool::collect(Worker& worker, std::chrono::milliseconds limit) {
  pollfd ready{worker.socket, POLLIN, 0};
  if (::poll(&ready, 1, 0) > 0) {
    if (!receive_some(worker.socket, worker.inbox)) {
      return WorkerReply{Outcome::died, "worker process " + end(worker, 0)};
    }
    if (const auto message = take_message(worker.inbox)) {
      worker.request.reset();
      return WorkerReply{static_cast<Outcome>(message->front()), message->substr(1)};
    }
  }
  if (limit.count() > 0 && std::chrono::steady_clock::now() - worker.started > limit) {
    end(worker, SIGKILL);
    const double seconds = static_cast<double>(limit.count()) / 1000;
    return WorkerReply{Outcome::timed_out, "not finished within the limit of " + std::to_string(seconds) + " s"};
  }
  return std::nullopt;
}

std::vector<WorkerReply> WorkerPool::run(const std::vector<std::string>& requests, const WorkerWatch& watch) {
  std::vector<WorkerReply> replies(requests.size());
  std::size_t next = 0;
  std::size_t answered = 0;
  while (answered < requests.size()) {
    if (watch.cancelled && watch.cancelled()) {
      for (Worker& worker : workers_) {
        if (worker.request) end(worker, SIGKILL);
      }
      return replies;
    }
    dispatch(requests, next);
    wait_for_input();
    for (Worker& worker : workers_) {
      if (!worker.request) continue;
      const std::size_t request = *worker.request;
      if (auto reply = collect(worker, watch.limit)) {
        replies[request] = std::move(*reply);
        ++answered;
        if (watch.replied) watch.replied(request, replies[request]);
      }
    }
  }
  return replies;
}

std::int64_t available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

}  // namespace tandem
