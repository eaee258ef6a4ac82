// SPDX-License-Identifier: Apache-2.0
#include "tools/files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "arch/support/error.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("tandem_files_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(Files, WrittenTextReadsBackAndLeavesNoDraft) {
  const fs::path file = folder_ / "a.txt";
  write_file(file, "one");
  write_file(file, std::string("two\0three", 9));
  EXPECT_EQ(read_file(file, 100), std::string("two\0three", 9));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, WhatCannotBeReadIsRefused) {
  EXPECT_THROW((void)read_file(folder_ / "absent", 100), ConfigError);
  EXPECT_THROW((void)read_file(folder_, 100), ConfigError);
  write_file(folder_ / "big", std::string(101, 'x'));
  EXPECT_THROW((void)read_file(folder_ / "big", 100), ConfigError);
}

TEST_F(Files, UnwritablePlacesAreKnownBeforehand) {
  EXPECT_NO_THROW(require_writable(folder_ / "new"));
  EXPECT_THROW(require_writable(folder_), ConfigError);
  EXPECT_THROW(require_writable(folder_ / "absent" / "file"), ConfigError);
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

}  // namespace
}  // namespace tandem
