// SPDX-License-Identifier: Apache-2.0
#include "arch/support/config_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace tandem {

enum class Dataflow { weight_stationary, output_stationary };
template <>
struct EnumNames<Dataflow> {
  static constexpr auto values =
      std::to_array<std::pair<Dataflow, std::string_view>>({{Dataflow::weight_stationary, "weight-stationary"},
                                                            {Dataflow::output_stationary, "output-stationary"},
                                                            {Dataflow::weight_stationary, "ws"}});
};

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ConfigFile yaml(const std::string& text) { return ConfigFile(parse_yaml(text, "f.yaml"), "f.yaml"); }

std::vector<std::string> complaints(ConfigFile& file) {
  std::vector<std::string> texts;
  try {
    file.finish();
  } catch (const ConfigError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) texts.push_back(diagnostic.text());
  }
  return texts;
}

TEST(ConfigReader, ReadsEveryKindOfValue) {
  ConfigFile file = yaml(
      "clock: 940 MHz\ncount: 1e3\nratio: 0.5\nname: a b\nquoted: '1e3'\non: true\nflow: ws\ncapacity: \"32 GiB\"\n"
      "launch: 2 us\nsizes: [1 KiB, 2 KiB]\none: 3 KiB\n");
  const ConfigSection root = file.root();
  EXPECT_EQ(root.get<Frequency>("clock", positive), Frequency(940e6));
  EXPECT_EQ(root.get<std::int64_t>("count"), 1000);
  EXPECT_EQ(root.get<double>("ratio", fraction), 0.5);
  EXPECT_EQ(root.get<std::string>("name"), "a b");
  EXPECT_EQ(root.get<std::string>("quoted"), "1e3");
  EXPECT_TRUE(root.get<bool>("on"));
  EXPECT_EQ(root.get<Dataflow>("flow"), Dataflow::weight_stationary);
  EXPECT_EQ(root.get<Bytes>("capacity"), Bytes(std::int64_t{32} << 30));
  EXPECT_EQ(root.get<Seconds>("launch"), Seconds(2e-6));
  EXPECT_THAT(root.list<Bytes>("sizes"), ElementsAre(Bytes(1024), Bytes(2048)));
  EXPECT_THAT(root.list<Bytes>("one"), ElementsAre(Bytes(3072)));
  EXPECT_THAT(root.list<Bytes>("none"), IsEmpty());
  EXPECT_THAT(complaints(file), IsEmpty());
}

TEST(ConfigReader, OptionalValuesMayBeAbsentOrNull) {
  ConfigFile file = yaml("a: ~\nb: 2\nempty:\n");
  const ConfigSection root = file.root();
  EXPECT_EQ(root.get_or<std::int64_t>("a", 7), 7);
  EXPECT_EQ(root.get_or<std::int64_t>("b", 7), 2);
  EXPECT_EQ(root.maybe<std::int64_t>("c"), std::nullopt);
  EXPECT_FALSE(root.optional_section("d").present());
  EXPECT_EQ(root.get_or<std::int64_t>("empty", 7), 7);
  EXPECT_THAT(complaints(file),
              ElementsAre("f.yaml:3:1: empty: has no value; expected a whole number such as 12 or 1e3"));
}

TEST(ConfigReader, ReportsEverythingAtOnceInTheOrderOfTheFile) {
  ConfigFile file = yaml(
      "hbm:\n"                    // 1
      "  capacity: 32\n"          // 2
      "  bandwith: 1 TB/s\n"      // 3
      "clock: -1 GHz\n"           // 4
      "count: '1e3'\n"            // 5
      "flow: weight-stationry\n"  // 6
      "clock: 2 GHz\n"            // 7
      "name: [a]\n");             // 8
  const ConfigSection root = file.root();
  root.get<std::string>("name");
  root.get<Frequency>("clock", positive);
  root.get<std::int64_t>("count");
  root.get<Dataflow>("flow");
  root.get<Power>("tdp");
  const ConfigSection hbm = root.section("hbm");
  hbm.get<Bytes>("capacity");
  hbm.get_or<Bandwidth>("bandwidth", Bandwidth(1));
  hbm.get<std::int64_t>("stacks");
  EXPECT_THAT(
      complaints(file),
      ElementsAre("f.yaml:1:1: tdp: required key is missing", "f.yaml:1:1: hbm.stacks: required key is missing",
                  "f.yaml:2:13: hbm.capacity: '32' has no unit; expected a size such as 32 GiB",
                  "f.yaml:3:3: hbm.bandwith: unknown key; did you mean bandwidth?",
                  "f.yaml:4:8: clock: '-1 GHz' is out of range; expected a positive value",
                  "f.yaml:5:8: count: '1e3' is quoted, so it is a text; expected a whole number such as 12 or 1e3",
                  "f.yaml:6:7: flow: is 'weight-stationry'; expected one of weight-stationary, "
                  "output-stationary, ws; did you mean weight-stationary?",
                  "f.yaml:7:1: clock: is given twice (first in line 4); expected each key once",
                  "f.yaml:8:7: name: is a list; expected a text"));
}

TEST(ConfigReader, NumbersKeepTheStatedRule) {
  for (const char* text : {"1e3", "1E3", "1.0e3", "1e+3", "1000"}) {
    ConfigFile file = yaml(std::string("n: ") + text);
    EXPECT_EQ(file.root().get<std::int64_t>("n"), 1000) << text;
    EXPECT_EQ(file.root().get<double>("n"), 1000) << text;
    EXPECT_THAT(complaints(file), IsEmpty()) << text;
  }
  for (const char* text :
       {"1_000", ".nan", ".inf", "'1e3'", "010", "0x10", "0o10", "1.5", "1e30", "yes", "[1]", "1 B"}) {
    ConfigFile file = yaml(std::string("n: ") + text);
    EXPECT_EQ(file.root().get<std::int64_t>("n"), 0) << text;
    const auto found = complaints(file);
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_TRUE(found[0].starts_with("f.yaml:1:4: n: ")) << found[0];
  }
}

TEST(ConfigReader, SizesAndRatesRefuseWhatIsNotFiniteOrNegative) {
  for (const char* text : {".nan", ".inf", "-1", "-1 GB", ".nan GB", "-.inf GB", "1_000 GB", "0 GB"}) {
    ConfigFile file = yaml(std::string("size: ") + text);
    EXPECT_EQ(file.root().get<Bytes>("size", positive), Bytes(0));
    EXPECT_THAT(complaints(file), ElementsAre(testing::StartsWith("f.yaml:1:7: size: "))) << text;
  }
}

TEST(ConfigReader, AMissingSectionIsOneComplaint) {
  ConfigFile file = yaml("a: 1\n");
  const ConfigSection root = file.root();
  root.get<std::int64_t>("a");
  const ConfigSection missing = root.section("hbm");
  EXPECT_FALSE(missing.present());
  EXPECT_EQ(missing.get<Bytes>("capacity"), Bytes(0));
  EXPECT_FALSE(missing.section("timing").present());
  EXPECT_THAT(complaints(file), ElementsAre("f.yaml:1:1: hbm: required key is missing"));
}

TEST(ConfigReader, ListsOfMapsHaveIndexedPaths) {
  ConfigFile file = yaml("levels:\n  - size: 4\n  - size: x\n  - 3\n");
  const auto levels = file.root().sections("levels");
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].get<std::int64_t>("size"), 4);
  levels[1].get<std::int64_t>("size");
  EXPECT_THAT(complaints(file),
              ElementsAre("f.yaml:3:11: levels[1].size: 'x' is not a number; expected a whole number such as 12 or 1e3",
                          "f.yaml:4:5: levels[2]: is '3'; expected a map of keys and values"));
}

TEST(ConfigReader, UnknownKeysCanBeAllowed) {
  ConfigFile file(parse_json(R"({"hidden_size": 8, "rope": {"theta": 1}, "vocab": null})", "config.json"),
                  "config.json");
  const ConfigSection root = file.root();
  EXPECT_EQ(root.get<std::int64_t>("hidden_size"), 8);
  EXPECT_EQ(root.maybe<std::int64_t>("vocab"), std::nullopt);
  EXPECT_THAT(file.finish_allowing_unknown(), ElementsAre("rope"));
  EXPECT_THAT(root.keys(), ElementsAre("hidden_size", "rope", "vocab"));
}

TEST(ConfigReader, AskingWhetherAKeyExistsDoesNotUseIt) {
  ConfigFile file = yaml("a: 1\n");
  EXPECT_TRUE(file.root().has("a"));
  EXPECT_THAT(complaints(file), ElementsAre("f.yaml:1:1: a: key has no effect here"));
}

TEST(ConfigReader, AFileThatIsNoMapSaysSo) {
  ConfigFile empty = yaml("");
  EXPECT_EQ(empty.root().get<std::int64_t>("a"), 0);
  EXPECT_THAT(complaints(empty), ElementsAre("f.yaml:1:1: the file is empty; expected a map of keys and values"));
  ConfigFile list = yaml("- 1\n");
  EXPECT_FALSE(list.root().present());
  EXPECT_THAT(complaints(list), ElementsAre("f.yaml:1:1: the whole file is a list; expected a map of keys and values"));
}

TEST(ConfigReader, OwnComplaintsStandAtTheirKey) {
  ConfigFile file = yaml("a: 1\nb:\n  c: 2\n");
  const ConfigSection b = file.root().section("b");
  file.root().get<std::int64_t>("a");
  b.get<std::int64_t>("c");
  b.complain("c", "does not divide a", "a divisor of 1");
  b.complain("d", "must be given with c");
  EXPECT_THAT(complaints(file), ElementsAre("f.yaml:2:1: b.d: must be given with c",
                                            "f.yaml:3:3: b.c: does not divide a; expected a divisor of 1"));
}

TEST(ConfigReader, PathsAreRelativeToTheFile) {
  ConfigFile file(parse_yaml("a: 1", "runs/x/cluster.yaml"), "runs/x/cluster.yaml");
  EXPECT_EQ(file.resolve("chip.yaml"), "runs/x/chip.yaml");
  EXPECT_EQ(file.resolve("/abs/chip.yaml"), "/abs/chip.yaml");
}

TEST(Checks, SayWhatTheyExpect) {
  EXPECT_EQ(between(1, 2)(1), "");
  EXPECT_EQ(between(1, 2)(2), "");
  EXPECT_EQ(between(1, 2)(2.5), "a value from 1 to 2");
  EXPECT_EQ(not_negative(0), "");
  EXPECT_NE(not_negative(-1), "");
  EXPECT_NE(positive(0), "");
  EXPECT_NE(fraction(0), "");
  EXPECT_EQ(fraction(1), "");
}

}  // namespace
}  // namespace tandem
