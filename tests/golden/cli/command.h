// SPDX-License-Identifier: Apache-2.0
// Runs the built `tandem` as its users do.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tandem {

struct CommandResult {
  int status = -1;  ///< exit status; 128 + n for signal n
  std::string out, err;
};

/// `words` after the program's name; neither stream is a terminal. A run of over two minutes is killed.
CommandResult run_tandem(const std::vector<std::string>& words);
/// The same, and `signal` sent `milliseconds` after the start, to the process and to its group, as timeout(1) does.
CommandResult run_tandem_with_signal(const std::vector<std::string>& words, int signal, int milliseconds);

/// A folder of its own for each test.
class CommandTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view text) const;  ///< returns the path

  std::filesystem::path folder_;
};

std::string text_of_file(const std::filesystem::path& file);

}  // namespace tandem
