// SPDX-License-Identifier: Apache-2.0
// Damaged files: whatever is done to a good file, reading it either works or is a ConfigError. Deterministic; the fuzz
// targets (tests/fuzz) search further.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>

#include "arch/support/config_tree.h"
#include "arch/support/error.h"
#include "tests/support/chip_like_reader.h"

namespace tandem::test {
namespace {

constexpr int kMutants = 6000;

using Parser = ConfigNode (*)(std::string_view, const std::string&);

/// Whether the text was accepted. Any exception but ConfigError, and one without a message, fails the test.
bool accepts(Parser parse, const std::string& text) {
  try {
    read_chip_like(parse(text, "mutant"), "mutant");
    return true;
  } catch (const ConfigError& error) {
    EXPECT_FALSE(error.diagnostics().empty());
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      EXPECT_EQ(diagnostic.file, "mutant");
      EXPECT_FALSE(diagnostic.problem.empty());
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << " for:\n" << text;
  }
  return false;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(text);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  void edit(std::string& text) {
    static constexpr std::array<std::string_view, 30> kPieces = {
        "[",   "]",   "{",    "}",   ":",     ": ", "- ",    "\n", "\t",   "&a ",  "*a",  "!x ",  "'",
        "\"",  "#",   "?",    "|\n", "---\n", "~",  "1e999", "-",  ".nan", "\xFF", "\\u", "\xC3", "9999999999999999999",
        "0x1", "1_0", "null", "\r"};
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0: text.resize(at); break;
      case 1: text.insert(at, kPieces[below(kPieces.size())]); break;
      case 2: text.erase(at, 1 + below(8)); break;
      case 3: text.insert(at, text.substr(below(text.size() + 1), below(40))); break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      default:
        if (at < text.size()) text.replace(at, 1, kPieces[below(kPieces.size())]);
        break;
    }
  }

  std::mt19937_64 random_;
};

void mutate_many(Parser parse, const std::string& good) {
  ASSERT_TRUE(accepts(parse, good));
  Mutator mutator(20240607);
  int accepted = 0;
  for (int i = 0; i < kMutants; ++i) accepted += accepts(parse, mutator.mutate(good)) ? 1 : 0;
  EXPECT_GT(accepted, 0) << "some damage is harmless";
  EXPECT_LT(accepted, kMutants / 2) << "most damage is noticed";
}

TEST(MutatedInput, YamlIsReadOrRefused) { mutate_many(parse_yaml, kChipLikeYaml); }
TEST(MutatedInput, JsonIsReadOrRefused) { mutate_many(parse_json, kChipLikeJson); }

TEST(MutatedInput, EveryTruncationIsReadOrRefused) {
  const std::string yaml = kChipLikeYaml, json = kChipLikeJson;
  for (std::size_t size = 0; size < yaml.size(); ++size) accepts(parse_yaml, yaml.substr(0, size));
  for (std::size_t size = 0; size < json.size(); ++size) {
    EXPECT_FALSE(accepts(parse_json, json.substr(0, size))) << "cut JSON is never whole";
  }
}

TEST(MutatedInput, EveryByteValueIsReadOrRefused) {
  for (int byte = 0; byte < 256; ++byte) {
    for (const char* before : {"", "clock: ", "clock: \"", "- ", "{"}) {
      accepts(parse_yaml, std::string(before) + static_cast<char>(byte));
      accepts(parse_json, std::string(before) + static_cast<char>(byte));
    }
  }
}

}  // namespace
}  // namespace tandem::test
