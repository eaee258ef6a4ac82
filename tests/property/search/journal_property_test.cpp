// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "arch/support/error.h"
#include "search/journal.h"

namespace tandem {
namespace {

JournalContents read(const std::string& bytes) { return parse_journal(bytes, "journal.jsonl"); }

class JournalBytes : public testing::Test {
 protected:
  JournalBytes()
      : whole_(R"({"format":"tandem-search-journal","version":1,"config":"0123456789abcdef"})"
               "\n") {
    for (int i = 0; i < 8; ++i) {
      whole_ += R"({"key":"key)" + std::to_string(i) +
                R"(","value":{"outcome":"done","text":"{\"a\":1}"}})"
                "\n";
    }
  }

  std::string whole_;
};

TEST_F(JournalBytes, CutAnywhereItKeepsTheWholeLines) {
  for (std::size_t size = 0; size <= whole_.size(); ++size) {
    const std::string part = whole_.substr(0, size);
    const auto lines = std::count(part.begin(), part.end(), '\n');
    if (lines == 0) {
      EXPECT_THROW(read(part), ConfigError);
      continue;
    }
    const JournalContents contents = read(part);
    EXPECT_EQ(static_cast<long>(contents.entries.size()), lines - 1);
    EXPECT_LE(contents.complete_bytes, size);
  }
}

TEST_F(JournalBytes, DamagedAnywhereItIsReadOrRefused) {
  std::mt19937_64 random(3);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = whole_;
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 3) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes.erase(at, random() % 40); break;
        default: bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 40));
      }
    }
    try {
      const JournalContents contents = read(bytes);
      EXPECT_LE(contents.complete_bytes, bytes.size());
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_F(JournalBytes, DeepNestingIsRefused) {
  EXPECT_THROW(read(whole_ + "{\"key\":\"deep\",\"value\":" + std::string(2'000'000, '[') + "\n"), ConfigError);
  const std::string closed = std::string(500'000, '[') + std::string(500'000, ']');
  EXPECT_THROW(read(whole_ + "{\"key\":\"deep\",\"value\":" + closed + "}\n"), ConfigError);
}

}  // namespace
}  // namespace tandem
