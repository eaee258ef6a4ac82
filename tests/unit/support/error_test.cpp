// SPDX-License-Identifier: Apache-2.0
#include "arch/support/error.h"

#include <gtest/gtest.h>

#include "arch/support/hash.h"

namespace tandem {
namespace {

TEST(Diagnostic, PrintsEveryPartInTheAgreedOrder) {
  const Diagnostic all{"chip.yaml", 3, 8, "hbm.capacity", "'32' has no unit", "a size such as 32 GiB", "32 GiB"};
  EXPECT_EQ(all.text(),
            "chip.yaml:3:8: hbm.capacity: '32' has no unit; expected a size such as 32 GiB; did you mean 32 GiB?");
}

TEST(Diagnostic, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ((Diagnostic{"chip.yaml", 0, 0, {}, "file not found", {}, {}}.text()), "chip.yaml: file not found");
  EXPECT_EQ((Diagnostic{{}, 0, 0, "--dp", "is missing", {}, {}}.text()), "--dp: is missing");
}

TEST(ConfigError, CarriesOneLinePerDiagnostic) {
  const ConfigError error({{"a", 1, 1, "x", "p", {}, {}}, {"a", 2, 1, "y", "q", {}, {}}});
  EXPECT_STREQ(error.what(), "a:1:1: x: p\na:2:1: y: q");
  EXPECT_EQ(error.diagnostics().size(), 2U);
}

TEST(ConfigError, ShortensMassesOfDiagnostics) {
  const ConfigError error(std::vector<Diagnostic>(250, Diagnostic{"a", 1, 1, "x", "p", {}, {}}));
  EXPECT_TRUE(std::string_view(error.what()).ends_with("... and 150 more"));
  EXPECT_EQ(error.diagnostics().size(), 250U);
}

TEST(InQuotes, EscapesControlCharactersAndShortensBetweenCharacters) {
  EXPECT_EQ(in_quotes("a\n\x01"), "'a\\x0a\\x01'");
  std::string text(59, 'a');
  text += "\u00b5\u00b5";  // the first one straddles byte 60
  EXPECT_EQ(in_quotes(text), "'" + std::string(59, 'a') + "...'");
}

TEST(Hash, MatchesThePublishedVectors) {
  // Source: FNV draft, appendix C, test vectors of 64-bit FNV-1a.
  EXPECT_EQ(hash_text(""), "cbf29ce484222325");
  EXPECT_EQ(hash_text("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(hash_text("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace tandem
