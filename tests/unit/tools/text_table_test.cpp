// SPDX-License-Identifier: Apache-2.0
#include "tools/text_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace tandem {
namespace {

TEST(TextTable, AlignsWordsLeftAndFiguresRight) {
  TextTable table({"name", "time", "cause"});
  table.add({"a", "1.5 ms", "noc"});
  table.add({"longer", "12 us", "hbm_bandwidth"});
  EXPECT_EQ(table.text(),
            "  name       time   cause\n"
            "  a        1.5 ms   noc\n"
            "  longer    12 us   hbm_bandwidth\n");
}

TEST(TextTable, CountsCharactersNotBytes) {
  TextTable table({"x", "y"});
  table.add({"\xC3\xA9", "1"});  // one character of two bytes
  EXPECT_EQ(table.text(), "  x   y\n  \xC3\xA9   1\n");
}

TEST(TextTable, RefusesRowsOfAnotherWidth) {
  TextTable table({"x"});
  EXPECT_THROW(table.add({"1", "2"}), std::invalid_argument);
}

TEST(Percent, SaysWhenThereIsNoNumber) {
  EXPECT_EQ(percent(0.1234), "12.3 %");
  EXPECT_EQ(signed_percent(-0.05), "-5.0 %");
  EXPECT_EQ(percent(NAN), "n/a");
}

}  // namespace
}  // namespace tandem
