// SPDX-License-Identifier: Apache-2.0
#include "search/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "arch/support/error.h"

namespace tandem {
namespace {

class JournalFile : public testing::Test {
 protected:
  JournalFile()
      : file_(std::filesystem::temp_directory_path() / ("tandem_journal_" + std::to_string(::getpid()) + ".jsonl")) {}
  ~JournalFile() override { std::filesystem::remove(file_); }

  void append(const std::string& text) const { std::ofstream(file_, std::ios::app | std::ios::binary) << text; }

  std::filesystem::path file_;
};

TEST_F(JournalFile, GivesBackWhatWasRecorded) {
  {
    Journal journal = Journal::create(file_, "abc");
    journal.record("one", 1);
    journal.record("two", {{"x", "y\n"}});
    journal.record("one", 7);
  }
  const JournalContents contents = read_journal(file_);
  EXPECT_EQ(contents.config_hash, "abc");
  EXPECT_EQ(contents.entries.size(), 2U);
  EXPECT_EQ(contents.entries.at("one"), 1);
  EXPECT_EQ(contents.entries.at("two")["x"], "y\n");
  EXPECT_EQ(contents.complete_bytes, std::filesystem::file_size(file_));
}

TEST_F(JournalFile, ResumingDropsALineCutShortAndGoesOn) {
  Journal::create(file_, "abc").record("one", 1);
  append(R"({"key":"two","val)");
  const JournalContents cut = read_journal(file_);
  EXPECT_EQ(cut.entries.size(), 1U);
  Journal::resume(file_, cut).record("three", 3);
  const JournalContents contents = read_journal(file_);
  EXPECT_EQ(contents.entries.size(), 2U);
  EXPECT_EQ(contents.entries.at("three"), 3);
}

TEST_F(JournalFile, BytesThatAreNoTextAreRecorded) {
  Journal::create(file_, "abc").record("one", std::string("\xff\xfe"));
  EXPECT_EQ(read_journal(file_).entries.size(), 1U);
}

TEST_F(JournalFile, DamageIsToldWithItsLine) {
  Journal::create(file_, "abc").record("one", 1);
  append("no json\n{\"key\":\"two\",\"value\":2}\n");
  try {
    read_journal(file_);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.diagnostics().front().line, 3);
  }
}

TEST_F(JournalFile, OtherFilesAreRefused) {
  append("{\"format\":\"other\"}\n");
  EXPECT_THROW(read_journal(file_), ConfigError);
  EXPECT_THROW(read_journal(file_.string() + ".missing"), ConfigError);
}

}  // namespace
}  // namespace tandem
