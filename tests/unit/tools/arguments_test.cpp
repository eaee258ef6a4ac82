// SPDX-License-Identifier: Apache-2.0
#include "tools/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/support/error.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<FlagGroup> kGroups{{"Test",
                                      {{"tp", 0, "N", "degree", false, {"tensor-model-parallel-size"}},
                                       {"where", 'w', "C=V", "filter", true, {}},
                                       {"json", 0, "", "a switch", false, {}},
                                       {"output", 'o', "OUT", "where to", false, {}}}}};

Arguments parse(const std::vector<std::string>& words, std::size_t most_files = 1) {
  return Arguments(words, kGroups, most_files);
}

std::string complaint(const std::vector<std::string>& words, std::size_t most_files = 1) {
  try {
    (void)parse(words, most_files);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no complaint";
}

TEST(Arguments, SpellingsOfOneFlag) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"--tp", "4"},
                                                {"--tp=4"},
                                                {"--tensor-model-parallel-size", "4"},
                                                {"--tensor_model_parallel_size=4"}}) {
    EXPECT_EQ(parse(words).positive("tp"), 4) << words.front();
  }
}

TEST(Arguments, FilesSwitchesAndRepeats) {
  const Arguments arguments = parse({"a.yaml", "--json", "-w", "a=1", "--where", "b=2", "-oX"});
  EXPECT_THAT(arguments.files(), ElementsAre("a.yaml"));
  EXPECT_TRUE(arguments.has("json"));
  EXPECT_FALSE(arguments.has("tp"));
  EXPECT_THAT(arguments.texts("where"), ElementsAre("a=1", "b=2"));
  EXPECT_EQ(arguments.text("output"), "X");
  EXPECT_EQ(parse({"-o", "-"}).text("output"), "-");
}

TEST(Arguments, UnknownFlagsNameTheNearest) {
  EXPECT_THAT(complaint({"--jsn"}), AllOf(HasSubstr("--jsn"), HasSubstr("--json")));
  EXPECT_THAT(complaint({"--tensor-model-paralel-size", "2"}), HasSubstr("--tensor-model-parallel-size"));
  EXPECT_THAT(complaint({"-z"}), HasSubstr("-z"));
}

TEST(Arguments, WrongUseIsRefused) {
  EXPECT_THAT(complaint({"--tp"}), HasSubstr("tp"));
  EXPECT_THAT(complaint({"--tp", "1", "--tensor-model-parallel-size", "2"}), HasSubstr("given twice"));
  EXPECT_THAT(complaint({"a", "b"}), HasSubstr("'b'"));
  EXPECT_THAT(complaint({"a"}, 0), HasSubstr("'a'"));
  EXPECT_NE(complaint({"--json=yes"}), "no complaint");
}

TEST(Arguments, NumbersAreChecked) {
  for (const char* text : {"x", "1.5", "", "9223372036854775808", "4x", "1e3"}) {
    EXPECT_THROW((void)parse({std::string("--tp=") + text}).positive("tp"), ConfigError) << text;
  }
  EXPECT_THROW((void)parse({"--tp=0"}).positive("tp"), ConfigError);
  EXPECT_THROW((void)parse({"--tp=-1"}).positive("tp"), ConfigError);
}

TEST(Arguments, HelpNamesEveryFlagAndAlias) {
  const std::string text = describe(kGroups);
  for (const char* part :
       {"--tp N", "--tensor-model-parallel-size", "-w, --where C=V", "-o, --output OUT", "a switch"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

}  // namespace
}  // namespace tandem
