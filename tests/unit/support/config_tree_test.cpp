// SPDX-License-Identifier: Apache-2.0
#include "arch/support/config_tree.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "arch/support/error.h"

namespace tandem {
namespace {

using Kind = ConfigNode::Kind;

template <typename Parse>
Diagnostic diagnostic_of(Parse parse) {
  try {
    parse();
  } catch (const ConfigError& error) {
    return error.diagnostics().front();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}
Diagnostic yaml_error(const std::string& text) {
  return diagnostic_of([&] { parse_yaml(text, "f.yaml"); });
}
Diagnostic json_error(const std::string& text) {
  return diagnostic_of([&] { parse_json(text, "f.json"); });
}
std::string repeated(const std::string& piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

TEST(Yaml, KeepsPositionsTextsAndQuotes) {
  const ConfigNode root = parse_yaml("clock: 940 MHz\nlist: [010, '1e3']\n", "f");
  ASSERT_EQ(root.kind, Kind::map);
  const ConfigNode* clock = root.find("clock");
  EXPECT_EQ(clock->scalar, "940 MHz");
  EXPECT_EQ(clock->line, 1);
  EXPECT_EQ(clock->column, 8);
  const ConfigNode* list = root.find("list");
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(list->items[0].scalar, "010");
  EXPECT_FALSE(list->items[0].quoted);
  EXPECT_EQ(list->items[1].scalar, "1e3");
  EXPECT_TRUE(list->items[1].quoted);
  EXPECT_EQ(list->items[1].line, 2);
  EXPECT_EQ(list->items[1].column, 13);
  EXPECT_EQ(root.entries[1].line, 2);
  EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(Yaml, KeepsDuplicateKeys) {
  const ConfigNode root = parse_yaml("a: 1\nb: 2\na: 3\n", "f");
  ASSERT_EQ(root.entries.size(), 3U);
  EXPECT_EQ(root.entries[2].key, "a");
  EXPECT_EQ(root.entries[2].line, 3);
}

TEST(Yaml, ExplicitNullDiffersFromNothing) {
  const ConfigNode root = parse_yaml("a: ~\nb:\nc: null\nd: 'null'\n", "f");
  EXPECT_EQ(root.find("a")->kind, Kind::null);
  EXPECT_EQ(root.find("a")->scalar, "~");
  EXPECT_EQ(root.find("b")->kind, Kind::null);
  EXPECT_EQ(root.find("b")->scalar, "");
  EXPECT_EQ(root.find("c")->scalar, "null");
  EXPECT_EQ(root.find("d")->kind, Kind::scalar);
}

TEST(Yaml, LayoutDoesNotMatter) {
  const std::string plain = "a: 1\nb:\n  c: 2\n";
  for (const char* same : {"a: 1\n\n\nb:\n  c: 2\n", "a: 1\r\nb:\r\n  c: 2\r\n", "a: 1   \nb:  # why\n  c: 2 # not\n",
                           "\xEF\xBB\xBF"
                           "a: 1\nb:\n  c: 2",
                           "a: 1\nb: {c: 2}"}) {
    const ConfigNode root = parse_yaml(same, "f");
    ASSERT_EQ(root.entries.size(), 2U) << same;
    EXPECT_EQ(root.find("a")->scalar, "1") << same;
    EXPECT_EQ(root.find("b")->find("c")->scalar, "2") << same;
  }
}

TEST(Yaml, AliasesAreResolved) {
  const ConfigNode root = parse_yaml("a: &x {k: 1}\nb: *x\n", "f");
  EXPECT_EQ(root.find("b")->find("k")->scalar, "1");
}

TEST(Yaml, AliasBombsAreRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + repeated(", " + before, 9) + "]\n";
  }
  EXPECT_EQ(yaml_error(bomb).problem, "has too many values, aliases expanded");
  EXPECT_EQ(yaml_error("a: &x [*x]\n").problem, "an alias stands inside the node that it names");
}

TEST(Yaml, AliasesCannotNestDeeperThanText) {
  std::string text = "a0: &a0 [x]\n";
  for (int i = 1; i <= kMaxNesting; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_EQ(yaml_error(text).problem, "is nested too deeply");
}

TEST(Yaml, SyntaxErrorsHavePositions) {
  const Diagnostic error = yaml_error("a: 1\nb: [1, 2\nc: 3\n");
  EXPECT_EQ(error.file, "f.yaml");
  EXPECT_GE(error.line, 2);
  EXPECT_GE(error.column, 1);
  EXPECT_TRUE(error.problem.starts_with("YAML syntax: ")) << error.problem;
  EXPECT_EQ(yaml_error("a: \"cut").line, 1);
  EXPECT_EQ(yaml_error("a: 1\n---\nb: 2\n").problem, "a second document begins here");
  EXPECT_EQ(yaml_error("? [a]\n: 1\n").problem, "a key is not a plain text");
  EXPECT_EQ(yaml_error("a: !secret 1\n").problem, "YAML tag '!secret' has no meaning here");
}

TEST(Yaml, DepthIsBounded) {
  const auto nested = [](int levels) {
    return repeated("[", static_cast<std::size_t>(levels)) + repeated("]", static_cast<std::size_t>(levels));
  };
  EXPECT_EQ(parse_yaml(nested(kMaxNesting), "f").kind, Kind::list);
  EXPECT_EQ(yaml_error(nested(kMaxNesting + 1)).problem, "is nested too deeply");
  for (const char* piece : {"[", "{", "- ", "? ", "[a, ", "{a: ", "[{", "[]["}) {
    EXPECT_EQ(yaml_error(repeated(piece, 300'000)).problem, "is nested too deeply") << piece;
  }
}

TEST(Text, WhatIsNotTextIsRefusedWithItsPosition) {
  const Diagnostic nul = yaml_error(std::string("a: 1\nb: \0", 9));
  EXPECT_EQ(nul.problem, "control character 0x00: this is not a text file");
  EXPECT_EQ(nul.line, 2);
  EXPECT_EQ(nul.column, 4);
  EXPECT_EQ(yaml_error("a: \xC3(").problem, "byte 0xc3 is not valid UTF-8");
  EXPECT_EQ(json_error("\"\xED\xA0\x80\"").problem, "byte 0xed is not valid UTF-8");
  EXPECT_EQ(yaml_error("\xFF\xFE"
                       "a")
                .problem,
            "is UTF-16 text");
  EXPECT_EQ(yaml_error(std::string(kMaxYamlBytes + 1, ' ')).problem, "is too large");
  EXPECT_EQ(json_error(std::string(kMaxJsonBytes + 1, '[')).problem, "is too large");
}

TEST(Json, KeepsPositionsTextsAndQuotes) {
  const ConfigNode root =
      parse_json("{\"a\": [1, 2.50 ,-3e2],\n  \"b\" :{\"c\":\"x\"}, \"d\": true, \"e\": null}", "f");
  ASSERT_EQ(root.kind, Kind::map);
  ASSERT_EQ(root.entries.size(), 4U);
  const ConfigNode& list = root.entries[0].value;
  EXPECT_EQ(list.column, 7);
  ASSERT_EQ(list.items.size(), 3U);
  EXPECT_EQ(list.items[0].column, 8);
  EXPECT_EQ(list.items[1].scalar, "2.50");
  EXPECT_EQ(list.items[1].column, 11);
  EXPECT_EQ(list.items[2].scalar, "-3e2");
  EXPECT_EQ(list.items[2].column, 17);
  EXPECT_EQ(root.entries[1].line, 2);
  EXPECT_EQ(root.entries[1].column, 3);
  const ConfigNode* c = root.find("b")->find("c");
  EXPECT_EQ(c->scalar, "x");
  EXPECT_TRUE(c->quoted);
  EXPECT_EQ(c->line, 2);
  EXPECT_EQ(c->column, 13);
  EXPECT_EQ(root.find("d")->scalar, "true");
  EXPECT_FALSE(root.find("d")->quoted);
  EXPECT_EQ(root.find("e")->kind, Kind::null);
  EXPECT_EQ(root.find("e")->scalar, "null");
}

TEST(Json, SyntaxErrorsHavePositions) {
  const Diagnostic error = json_error("{\"a\": 1,\n \"b\": tru}");
  EXPECT_EQ(error.line, 2);
  EXPECT_GE(error.column, 7);
  EXPECT_TRUE(error.problem.starts_with("JSON syntax error")) << error.problem;
  for (const char* bad : {"", "{", "[1,]", "{\"a\":1} x", "NaN", "{\"a\" 1}", "01"}) {
    EXPECT_GE(json_error(bad).line, 1) << bad;
  }
}

TEST(Json, DepthIsBoundedEvenForMassesOfBrackets) {
  const Diagnostic error = json_error(repeated("[", kMaxJsonBytes));
  EXPECT_EQ(error.problem, "is nested too deeply");
  EXPECT_EQ(error.column, kMaxNesting + 1);
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("tandem_config_tree_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  std::filesystem::path folder_;
};

TEST_F(Files, TheExtensionChoosesTheFormat) {
  EXPECT_EQ(load_config_tree(write("a.json", "{\"a\": 1}")).find("a")->scalar, "1");
  EXPECT_EQ(load_config_tree(write("a.yaml", "a: 1")).find("a")->scalar, "1");
  EXPECT_EQ(load_config_tree(write("empty.yaml", "")).kind, Kind::null);
}

TEST_F(Files, WhatCannotBeReadSaysSo) {
  const auto problem = [](const std::filesystem::path& path) {
    return diagnostic_of([&] { load_config_tree(path); }).problem;
  };
  EXPECT_EQ(problem(folder_ / "absent.yaml"), "file not found");
  EXPECT_EQ(problem(folder_), "is a directory");
  EXPECT_EQ(problem(write("big.yaml", std::string(kMaxYamlBytes + 1, '\n'))), "is too large");
  EXPECT_EQ(problem("/dev/zero"), "is too large");
}

TEST(NearestName, FindsMisspeltNamesOnly) {
  const std::vector<std::string> names = {"bandwidth", "latency", "capacity"};
  EXPECT_EQ(nearest_name("bandwith", names), "bandwidth");
  EXPECT_EQ(nearest_name("Latency", names), "latency");
  EXPECT_EQ(nearest_name("laetncy", names), "latency");
  EXPECT_EQ(nearest_name("stacks", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), names), "");
}

}  // namespace
}  // namespace tandem
