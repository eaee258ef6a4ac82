// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> kVerbs{"search", "predict", "simulate", "validate", "show", "export"};

TEST(Usage, HelpGoesToStandardOutputWithExamples) {
  for (const std::string& verb : kVerbs) {
    const CommandResult help = run_tandem({verb, "--help"});
    EXPECT_EQ(help.status, 0) << verb;
    EXPECT_THAT(help.err, IsEmpty()) << verb;
    EXPECT_THAT(help.out, AllOf(HasSubstr("usage: tandem " + verb), HasSubstr("examples:\n  tandem " + verb),
                                HasSubstr("--json"), HasSubstr("--quiet"), HasSubstr("-j, --jobs N")));
  }
  const CommandResult overview = run_tandem({"--help"});
  EXPECT_EQ(overview.status, 0);
  for (const std::string& verb : kVerbs) EXPECT_THAT(overview.out, HasSubstr("  " + verb + " "));
  EXPECT_EQ(run_tandem({}).status, 2);
}

TEST(Usage, VersionNamesEveryLibrary) {
  const CommandResult version = run_tandem({"--version"});
  EXPECT_EQ(version.status, 0);
  for (const char* name :
       {"tandem 0.", "git ", "build type ", "compiler GNU", "SystemC 2.3", "HDF5 1.", "yaml-cpp 0.", "Boost 1."}) {
    EXPECT_THAT(version.out, HasSubstr(name));
  }
  EXPECT_THAT(version.out, Not(HasSubstr("warning")));
}

TEST(Usage, UnknownWordsNameTheNearest) {
  const CommandResult verb = run_tandem({"simulat"});
  EXPECT_EQ(verb.status, 2);
  EXPECT_THAT(verb.err, AllOf(HasSubstr("simulat"), HasSubstr("did you mean simulate?")));
  const CommandResult flag = run_tandem({"predict", "--clutser", "x"});
  EXPECT_EQ(flag.status, 2);
  EXPECT_THAT(flag.err, HasSubstr("did you mean --cluster?"));
  EXPECT_THAT(flag.out, IsEmpty());
}

TEST(Usage, WhatIsMissingIsNamed) {
  EXPECT_THAT(run_tandem({"predict"}).err, HasSubstr("--model"));
  EXPECT_THAT(run_tandem({"predict", "--model", "llama2-7b"}).err, HasSubstr("--cluster"));
  EXPECT_THAT(run_tandem({"show"}).err, HasSubstr("show what?"));
  EXPECT_THAT(run_tandem({"export"}).err, HasSubstr("which trace?"));
  EXPECT_THAT(run_tandem({"search"}).err, HasSubstr("which search?"));
  for (const std::string& verb : kVerbs) EXPECT_EQ(run_tandem({verb}).status, 2) << verb;
}

TEST(Usage, NearMissesOfShippedFilesAreNamed) {
  const CommandResult chip = run_tandem({"show", "a100-80g"});
  EXPECT_EQ(chip.status, 2);
  EXPECT_THAT(chip.err, HasSubstr("a100-80gb"));
  const CommandResult model = run_tandem({"predict", "--cluster", "dgx-a100", "--model", "llama2-7", "--gbs", "8"});
  EXPECT_EQ(model.status, 2);
  EXPECT_THAT(model.err, HasSubstr("llama2-7b"));
}

TEST(Usage, UnwritableOutputIsKnownBeforeWorkStarts) {
  const std::vector<std::string> simulate{"simulate",  "--cluster", "dgx-a100", "--model", "gpt2-xl",
                                          "--devices", "8",         "--gbs",    "8",       "--trace"};
  for (const std::string& trace : {std::string("/nonexistent/t.h5"), std::string("/tmp")}) {
    std::vector<std::string> words = simulate;
    words.push_back(trace);
    const CommandResult result = run_tandem(words);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr(trace));
  }
  const CommandResult full = run_tandem({"show", "a100-80gb", "-j", "2000"});
  EXPECT_EQ(full.status, 2);
}

}  // namespace
}  // namespace tandem
