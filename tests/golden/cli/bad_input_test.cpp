// SPDX-License-Identifier: Apache-2.0
// Every reader of a file, fed with every kind of damage, through every verb that reads it: exit 2 and a message that
// names the file, and the line where there is one.
#include <gmock/gmock.h>

#include <regex>

#include "tests/golden/cli/command.h"

namespace tandem {
namespace {

using testing::HasSubstr;

/// A file kind: a sound text, where to break it, and how the verbs are given it.
struct Reader {
  std::string name;
  std::string file;  ///< a sound file
  std::string extension;
  std::string required;  ///< a key on a line of its own that must be there
  std::string quantity;  ///< a key of a quantity or number on a line of its own, at any depth
  bool has_unit = true;
  std::vector<std::vector<std::string>> commands;  ///< FILE stands for the damaged file
};

const std::string kConfigs = TANDEM_SOURCE_DIR "/configs/";

std::vector<Reader> readers() {
  const std::vector<std::string> plan{"--gbs", "8", "--sequence", "1024"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  std::vector<Reader> all;
  Reader chip{"chip", kConfigs + "chip/a100-80gb.yaml", ".yaml", "clock", "clock", true, {{"show", "FILE"}}};
  Reader cluster{"cluster",         kConfigs + "cluster/dgx-a100.yaml", ".yaml", "name", "reserved_memory", true,
                 {{"show", "FILE"}}};
  Reader technology{"technology", kConfigs + "technology/n7.yaml", ".yaml", "node", "node", true, {{"show", "FILE"}}};
  Reader model{
      "model",           kConfigs + "model/llama2-7b.json", ".json", "\"hidden_size\"", "\"hidden_size\"", false,
      {{"show", "FILE"}}};
  for (const char* verb : {"predict", "simulate", "validate"}) {
    chip.commands.push_back(with({verb, "--chip", "FILE", "--model", "gpt2-xl"}, plan));
    cluster.commands.push_back(with({verb, "--cluster", "FILE", "--model", "gpt2-xl"}, plan));
    model.commands.push_back(with({verb, "--cluster", "dgx-a100", "--model", "FILE"}, plan));
  }
  all.push_back(chip);
  all.push_back(cluster);
  all.push_back(technology);
  all.push_back(model);
  return all;
}

struct Damage {
  std::string name;
  std::string text;
  bool has_line = true;
};

/// `text` with the value of the line of `key` replaced; empty `value` removes the line.
std::string with_value(const std::string& text, const Reader& reader, const std::string& key,
                       const std::string& value) {
  const std::regex line("(^|\n)( *)" + key + ": [^\n]*");
  const std::string comma = reader.extension == ".json" ? "," : "";
  return std::regex_replace(text, line, value.empty() ? "" : "$1$2" + key + ": " + value + comma,
                            std::regex_constants::format_first_only);
}

std::vector<Damage> damages(const Reader& reader) {
  const std::string text = text_of_file(reader.file);
  const bool json = reader.extension == ".json";
  std::vector<Damage> all;
  all.push_back({"missing key", with_value(text, reader, reader.required, ""), false});
  const auto value = [&](const std::string& name, const std::string& number) {
    all.push_back({name, with_value(text, reader, reader.quantity, number)});
  };
  value("a word", json ? "\"much\"" : "much");
  value("negative", reader.has_unit ? "-1 GHz" : "-1");
  value("not a number", json ? "\"nan\"" : ".nan");
  value("huge", reader.has_unit ? "1e400 GHz" : "99999999999999999999999999");
  value("a list", "[1, 2]");
  if (reader.has_unit) {
    value("another unit", "3 furlong");
    value("no unit", "1000000");
  } else {
    value("zero", "0");
    value("a fraction", "1.5");
  }
  if (!json) all.push_back({"unknown key", text + "\nbogus_key: 1\n"});
  all.push_back({"truncated", text.substr(0, text.size() / 2) + (json ? "" : "\n  x: [1,"), true});
  all.push_back({"binary", std::string("\x00\xff\xfe\x01garbage\x00", 13) + text, false});
  all.push_back({"nested", std::string(2'000'000, '['), false});
  all.push_back({"empty", "", false});
  all.push_back({"a list at the top", json ? "[1]" : "- 1\n", false});
  return all;
}

class BadInput : public CommandTest {};

TEST_F(BadInput, EveryReaderAndDamage) {
  for (const Reader& reader : readers()) {
    for (const Damage& damage : damages(reader)) {
      ASSERT_NE(damage.text, text_of_file(reader.file))
          << reader.name << ", " << damage.name << ": nothing was damaged";
      const std::string file = write("damaged" + reader.extension, damage.text);
      for (std::vector<std::string> words : reader.commands) {
        for (std::string& word : words) word = word == "FILE" ? file : word;
        const CommandResult result = run_tandem(words);
        const std::string what =
            reader.name + ", " + damage.name + ", " + words.front() + ": " + result.err.substr(0, 600);
        EXPECT_EQ(result.status, 2) << what;
        EXPECT_EQ(result.out, "") << what;
        EXPECT_THAT(result.err, HasSubstr("damaged" + reader.extension)) << what;
        if (damage.has_line) {
          EXPECT_TRUE(std::regex_search(result.err, std::regex("damaged\\" + reader.extension + ":[0-9]+"))) << what;
        }
      }
    }
  }
}

TEST_F(BadInput, AllComplaintsOfAFileComeAtOnce) {
  std::string text = text_of_file(kConfigs + "chip/a100-80gb.yaml");
  text = std::regex_replace(text, std::regex("(^|\n)clock: [^\n]*"), "$1clock: 1 GB");
  const CommandResult result = run_tandem({"show", write("c.yaml", text + "\nbogus_key: 1\nother_key: 2\n")});
  EXPECT_EQ(result.status, 2);
  for (const char* part : {"clock", "bogus_key", "other_key"}) EXPECT_THAT(result.err, HasSubstr(part));
}

TEST_F(BadInput, Plans) {
  const std::vector<std::string> base{"predict", "--cluster", "dgx-a100", "--model", "opt-1.3b", "--plan"};
  const std::string sound = "tp: 2\npp: 2\ndp: 2\nglobal_batch: 8\nmicrobatch: 1\nsequence: 1024\n";
  for (const std::string& text :
       {std::string("tp: 2\npp: 2\ndp: 2\nmicrobatch: 1\n"), sound + "tp: 4\n", sound + "bogus: 1\n",
        "tp: -1\n" + sound.substr(6), "tp: 0\n" + sound.substr(6), "tp: .nan\n" + sound.substr(6),
        "tp: 99999999999999999999\n" + sound.substr(6), "tp: two\n" + sound.substr(6), sound + "recompute: ful\n",
        sound + "stage_layers: [1,", std::string("\x00\x01", 2)}) {
    std::vector<std::string> words = base;
    words.push_back(write("plan.yaml", text));
    const CommandResult result = run_tandem(words);
    EXPECT_EQ(result.status, 2) << text << result.err;
    EXPECT_THAT(result.err, HasSubstr("plan.yaml")) << text;
  }
}

TEST_F(BadInput, Csv) {
  const std::string header = "device,op,dtype,batch,M,N,K,elements,latency_us,includes_launch_overhead\n";
  for (const std::string& text : {std::string(), std::string("a,b\n1,2\n"), header, header + "1,2\n", header + "\"x\n",
                                  std::string("device,op\0", 10), header + "a\"b,,,,,,,,,\n"}) {
    const CommandResult result = run_tandem({"validate", "--against", write("rows.csv", text)});
    EXPECT_EQ(result.status, 2) << text << result.err;
    EXPECT_THAT(result.err, HasSubstr("rows.csv")) << text;
  }
  EXPECT_EQ(run_tandem({"validate", "--against", path("absent.csv")}).status, 2);
}

TEST_F(BadInput, Traces) {
  for (const std::string& text : {std::string(), std::string("not HDF5"), std::string("\x89HDF\r\n\x1a\n", 8),
                                  std::string("\x89HDF\r\n\x1a\n", 8) + std::string(5000, '\x7f')}) {
    const std::string file = write("t.h5", text);
    for (const char* format : {"perfetto", "csv"}) {
      const CommandResult result = run_tandem({"export", file, "--format", format, "-o", path("out")});
      EXPECT_EQ(result.status, 2) << result.err;
      EXPECT_THAT(result.err, HasSubstr("t.h5"));
    }
  }
}

TEST_F(BadInput, SearchConfigs) {
  const std::string text = text_of_file(kConfigs + "search/llama2-7b.yaml");
  ASSERT_NE(text, "");
  for (const std::string& damaged : {text + "\nbogus_key: 1\n", text.substr(0, text.size() / 2) + "\n x: [1,",
                                     std::string(), std::string(2'000'000, '['), std::string("\x00\xff", 2)}) {
    const CommandResult result = run_tandem({"search", write("s.yaml", damaged), "-o", path("run")});
    EXPECT_EQ(result.status, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("s.yaml"));
    EXPECT_FALSE(std::filesystem::exists(path("run")));
  }
}

TEST_F(BadInput, HugeFlagsDoNotOverflow) {
  const std::string huge = "9000000000000000000";
  for (const char* flag : {"--gbs", "--sequence", "--tp", "--dp", "--devices", "--mbs", "--vpp", "--pp"}) {
    std::vector<std::string> words{"predict", "--cluster", "dgx-a100", "--model", "gpt2-xl"};
    if (std::string(flag) != "--gbs") words.insert(words.end(), {"--gbs", "8"});
    words.insert(words.end(), {flag, huge});
    const CommandResult result = run_tandem(words);
    EXPECT_EQ(result.status, 2) << flag << ": " << result.err;
    EXPECT_NE(result.err, "") << flag;
  }
}

}  // namespace
}  // namespace tandem
