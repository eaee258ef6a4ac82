// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/cli/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace tandem {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes kLimit(2);

[[noreturn]] void become_tandem(const std::vector<std::string>& words, const fs::path& out, const fs::path& err) {
  ::setpgid(0, 0);
  const int out_fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_fd = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(out_fd, STDOUT_FILENO);
  ::dup2(err_fd, STDERR_FILENO);
  std::vector<char*> arguments;
  static const std::string program = TANDEM_EXECUTABLE;
  arguments.push_back(const_cast<char*>(program.c_str()));
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  _exit(127);
}

CommandResult run(const std::vector<std::string>& words, int signal, std::chrono::milliseconds delay) {
  static int serial = 0;
  const fs::path base =
      fs::temp_directory_path() / ("tandem_cli_" + std::to_string(::getpid()) + "_" + std::to_string(serial++));
  const fs::path out = base.string() + ".out", err = base.string() + ".err";
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid == 0) become_tandem(words, out, err);
  const Clock::time_point start = Clock::now();
  int status = 0;
  bool signalled = signal == 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (!signalled && Clock::now() - start >= delay) {
      ::kill(pid, signal);
      ::kill(-pid, signal);
      signalled = true;
    }
    if (Clock::now() - start > kLimit) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CommandResult result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = text_of_file(out);
  result.err = text_of_file(err);
  fs::remove(out);
  fs::remove(err);
  return result;
}

}  // namespace

CommandResult run_tandem(const std::vector<std::string>& words) { return run(words, 0, {}); }

CommandResult run_tandem_with_signal(const std::vector<std::string>& words, int signal, int milliseconds) {
  return run(words, signal, std::chrono::milliseconds(milliseconds));
}

void CommandTest::SetUp() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(info->test_suite_name()) + "_" + info->name();
  for (char& c : name) c = c == '/' ? '_' : c;
  folder_ = fs::temp_directory_path() / ("tandem_" + name + "_" + std::to_string(::getpid()));
  fs::create_directories(folder_);
}

void CommandTest::TearDown() { fs::remove_all(folder_); }

std::string CommandTest::write(const std::string& name, std::string_view text) const {
  const std::string file = path(name);
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::string text_of_file(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace tandem
