// SPDX-License-Identifier: Apache-2.0
#include "tools/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "arch/support/error.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> texts(const std::vector<CsvField>& row) {
  std::vector<std::string> result;
  for (const CsvField& field : row) result.push_back(field.text);
  return result;
}

std::string complaint(std::string_view text) {
  try {
    parse_csv(text, "f.csv");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(Csv, ReadsPlainRows) {
  const CsvTable table = parse_csv("a,b\n1,2\n3,4\n", "f.csv");
  EXPECT_THAT(table.header, ElementsAre("a", "b"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT(texts(table.rows[1]), ElementsAre("3", "4"));
  EXPECT_EQ(table.rows[1][1].line, 3);
  EXPECT_EQ(table.rows[1][1].column, 3);
}

// RFC 4180, section 2: the grammar's own examples.
TEST(Csv, ReadsQuotedFields) {
  const CsvTable table = parse_csv("a,b,c\r\n\"aaa\",\"b\r\nbb\",\"c\"\"c, c\"\r\nx,,z", "f.csv");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT(texts(table.rows[0]), ElementsAre("aaa", "b\r\nbb", "c\"c, c"));
  EXPECT_THAT(texts(table.rows[1]), ElementsAre("x", "", "z"));
  EXPECT_EQ(table.rows[1][0].line, 4);
}

TEST(Csv, LineEndsMarksAndTrailingCommasDoNotMatter) {
  const std::vector<std::string> variants{"a,b\n1,2\n",
                                          "a,b\r\n1,2\r\n",
                                          "a,b\r1,2\r",
                                          "\xEF\xBB\xBF"
                                          "a,b\n1,2",
                                          "a,b,\n1,2,\n",
                                          "\n\na,b\n\n1,2\n   \n",
                                          " a , b \n1,2"};
  for (const std::string& text : variants) {
    const CsvTable table = parse_csv(text, "f.csv");
    EXPECT_THAT(table.header, ElementsAre("a", "b")) << text;
    ASSERT_EQ(table.rows.size(), 1U) << text;
    EXPECT_THAT(texts(table.rows[0]), ElementsAre("1", "2")) << text;
  }
}

TEST(Csv, ErrorsNameThePlace) {
  EXPECT_THAT(complaint("a,b\n1,\"2\n3"), HasSubstr("f.csv:2:3"));
  EXPECT_THAT(complaint("a,b\n1,\"2\"x\n"), HasSubstr("f.csv:2:6"));
  EXPECT_THAT(complaint("a,b\n1,2\"\n"), HasSubstr("f.csv:2:4"));
  EXPECT_THAT(complaint("a,b\n1,2,3\n"), AllOf(HasSubstr("f.csv:2:1"), HasSubstr("3 fields"), HasSubstr("2 as in")));
  EXPECT_THAT(complaint("a,b,a\n"), AllOf(HasSubstr("f.csv:1:5"), HasSubstr("'a' stands twice")));
  EXPECT_THAT(complaint("a,,b\n"), HasSubstr("f.csv:1:3"));
  EXPECT_THAT(complaint(""), HasSubstr("empty"));
  EXPECT_THAT(complaint(std::string_view("a,b\n1,\0\n", 8)), HasSubstr("NUL"));
}

TEST(Csv, NumbersAreFiniteAndWhole) {
  const CsvTable table = parse_csv("a,b,c,d,e,f\n1.5,3.0,nan,1e400,,x\n", "f.csv");
  const CsvRow row(table, 0);
  EXPECT_DOUBLE_EQ(row.number("a"), 1.5);
  EXPECT_EQ(row.integer("b"), 3);
  EXPECT_THROW((void)row.integer("a"), ConfigError);
  for (const char* bad : {"c", "d", "e", "f", "absent"}) EXPECT_THROW((void)row.number(bad), ConfigError) << bad;
  EXPECT_FALSE(row.maybe_number("e").has_value());
  EXPECT_FALSE(row.has("absent"));
}

TEST(Csv, WhatIsWrittenReadsBack) {
  for (const std::string& text : {std::string("plain"), std::string("a,b"), std::string("say \"x\""),
                                  std::string("two\nlines"), std::string(" edge")}) {
    const CsvTable table = parse_csv("h,i\n" + csv_quoted(text) + ",1\n", "f.csv");
    EXPECT_EQ(table.rows.at(0).at(0).text, text);
  }
}

/// Damaged texts are read or refused, never anything else.
TEST(Csv, DamagedTextIsReadOrRefused) {
  const std::string sound = "id,\"na\"\"me\",x\r\n1,\"a, b\",2.5\r\n2,,\"\r\n\"\r\n";
  std::mt19937 random(1);
  const std::string bytes("\",\r\n\0\xEF\xBB\xBFx1", 10);
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text = sound;
    for (auto changes = random() % 4 + 1; changes > 0 && !text.empty(); --changes) {
      const std::size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = bytes[random() % bytes.size()]; break;
        case 1: text.insert(at, 1, bytes[random() % bytes.size()]); break;
        default: text.erase(at, random() % 3 + 1);
      }
    }
    try {
      const CsvTable table = parse_csv(text, "f.csv");
      for (const auto& row : table.rows) ASSERT_EQ(row.size(), table.header.size());
    } catch (const ConfigError& error) {
      ++refused;
      ASSERT_THAT(error.what(), testing::StartsWith("f.csv:"));
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 4900);
}

}  // namespace
}  // namespace tandem
