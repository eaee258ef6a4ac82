// SPDX-License-Identifier: Apache-2.0
#include "search/axis_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

AxisValues read(const std::string& text) { return read_axis_values(*parse_yaml("axis: " + text, "test").find("axis")); }

TEST(AxisValues, ListsKeepTheirUnits) {
  EXPECT_THAT(read("[64 MiB, 128 MiB]").values, ElementsAre("64 MiB", "128 MiB"));
  EXPECT_THAT(read("8").values, ElementsAre("8"));
}

TEST(AxisValues, SpansIncludeBothEnds) {
  EXPECT_THAT(read("{from: 2, to: 8, step: 2}").values, ElementsAre("2", "4", "6", "8"));
  EXPECT_THAT(read("{from: 2, to: 9, step: 3}").values, ElementsAre("2", "5", "8"));
  EXPECT_THAT(read("{from: 0.9 GHz, to: 1.1 GHz, step: 0.1 GHz}").values.size(), 3U);
}

TEST(AxisValues, PowersDoubleFromTheFirst) {
  EXPECT_THAT(read("{powers_of_two: [32, 256]}").values, ElementsAre("32", "64", "128", "256"));
  EXPECT_THAT(read("{powers_of_two: [48 MiB, 200 MiB]}").values, ElementsAre("48 MiB", "96 MiB", "192 MiB"));
}

TEST(AxisValues, SaysWhatIsWrong) {
  EXPECT_THAT(read("{from: 2 MiB, to: 8 GiB, step: 2 MiB}").problem, HasSubstr("different units"));
  EXPECT_THAT(read("{from: 8, to: 2, step: 1}").problem, HasSubstr("rise"));
  EXPECT_THAT(read("{from: 1, to: 2, step: 0}").problem, HasSubstr("rise"));
  EXPECT_THAT(read("{from: 1, to: 2}").problem, HasSubstr("once each"));
  EXPECT_THAT(read("{powers_of_two: [0, 8]}").problem, HasSubstr("positive"));
  EXPECT_THAT(read("{powers_of_two: 8}").problem, HasSubstr("first and the last"));
  EXPECT_THAT(read("{powers: [1, 8]}").problem, HasSubstr("powers"));
  EXPECT_THAT(read("{from: 1, to: 1e9, step: 1}").problem, HasSubstr("100000"));
  EXPECT_THAT(read("[[1]]").problem, HasSubstr("scalar"));
  EXPECT_THAT(read("[]").problem, HasSubstr("no values"));
}

}  // namespace
}  // namespace tandem
