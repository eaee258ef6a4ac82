// SPDX-License-Identifier: Apache-2.0
#include "tools/arguments.h"

#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <charconv>
#include <system_error>

#include "arch/support/config_tree.h"
#include "arch/support/error.h"

namespace tandem {
namespace {

namespace po = boost::program_options;

[[noreturn]] void refuse(const std::string& flag, const std::string& problem, const std::string& expected = {}) {
  throw ConfigError({Diagnostic{"", 0, 0, "--" + flag, problem, expected, ""}});
}

std::vector<std::string> spellings(const std::vector<FlagGroup>& groups) {
  std::vector<std::string> names{"help"};
  for (const FlagGroup& group : groups) {
    for (const Flag& flag : group.flags) {
      names.push_back(flag.name);
      names.insert(names.end(), flag.aliases.begin(), flag.aliases.end());
    }
  }
  return names;
}

/// Long flags under their canonical name: aliases replaced, underscores read as dashes.
std::string canonical(const std::string& word, const std::vector<FlagGroup>& groups) {
  if (!word.starts_with("--") || word.size() == 2) return word;
  const std::size_t end = std::min(word.find('='), word.size());
  std::string name = word.substr(2, end - 2);
  for (char& c : name) c = c == '_' ? '-' : c;
  for (const FlagGroup& group : groups) {
    for (const Flag& flag : group.flags) {
      for (const std::string& alias : flag.aliases) {
        if (name == alias) name = flag.name;
      }
    }
  }
  return "--" + name + word.substr(end);
}

po::options_description options_of(const std::vector<FlagGroup>& groups) {
  po::options_description options;
  for (const FlagGroup& group : groups) {
    for (const Flag& flag : group.flags) {
      const std::string names = flag.letter == 0 ? flag.name : fmt::format("{},{}", flag.name, flag.letter);
      if (flag.value.empty()) {
        options.add_options()(names.c_str(), flag.help.c_str());
      } else {
        options.add_options()(names.c_str(), po::value<std::vector<std::string>>()->composing(), flag.help.c_str());
      }
    }
  }
  return options;
}

const Flag* find_flag(const std::vector<FlagGroup>& groups, const std::string& name) {
  for (const FlagGroup& group : groups) {
    for (const Flag& flag : group.flags) {
      if (flag.name == name) return &flag;
    }
  }
  return nullptr;
}

std::string without_dashes(std::string name) {
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  return name;
}

}  // namespace

Arguments::Arguments(std::span<const std::string> words, const std::vector<FlagGroup>& groups, std::size_t most_files) {
  std::vector<std::string> rewritten;
  bool flags_ended = false;
  for (const std::string& word : words) {
    flags_ended = flags_ended || word == "--";
    rewritten.push_back(flags_ended ? word : canonical(word, groups));
  }
  const po::options_description options = options_of(groups);
  po::parsed_options parsed(&options);
  try {
    using Style = po::command_line_style::style_t;
    const int style = Style::unix_style & ~Style::allow_guessing;
    parsed = po::command_line_parser(rewritten).options(options).style(style).run();
  } catch (const po::unknown_option& error) {
    const std::string name = without_dashes(error.get_option_name());
    const std::string near = nearest_name(name, spellings(groups));
    throw ConfigError(
        {Diagnostic{"", 0, 0, error.get_option_name(), "no such flag", "", near.empty() ? "" : "--" + near}});
  } catch (const po::error_with_option_name& error) {
    refuse(without_dashes(error.get_option_name()), error.what());
  } catch (const po::error& error) {
    throw ConfigError(error.what());
  }
  for (const po::option& option : parsed.options) {
    if (option.position_key >= 0 || option.string_key.empty()) {
      files_.insert(files_.end(), option.value.begin(), option.value.end());
      continue;
    }
    const Flag* flag = find_flag(groups, option.string_key);
    std::vector<std::string>& values = values_[option.string_key];
    if (flag != nullptr && !flag->value.empty() && !flag->repeatable && !values.empty()) {
      refuse(option.string_key, "given twice");
    }
    values.insert(values.end(), option.value.begin(), option.value.end());
  }
  if (files_.size() > most_files) {
    throw ConfigError(fmt::format("'{}': unexpected; {} plain argument{} expected", files_[most_files],
                                  most_files == 0 ? "no" : std::to_string(most_files), most_files == 1 ? "" : "s"));
  }
}

bool Arguments::has(std::string_view flag) const { return values_.contains(flag); }

std::optional<std::string> Arguments::text(std::string_view flag) const {
  const auto found = values_.find(flag);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::vector<std::string> Arguments::texts(std::string_view flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::optional<std::int64_t> Arguments::integer(std::string_view flag) const {
  const auto given = text(flag);
  if (!given) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), value);
  if (error != std::errc() || end != given->data() + given->size()) {
    refuse(std::string(flag), fmt::format("'{}' is no whole number of 64 bits", *given));
  }
  return value;
}

std::optional<std::int64_t> Arguments::positive(std::string_view flag) const {
  const auto value = integer(flag);
  if (value && *value < 1) refuse(std::string(flag), fmt::format("{} is not positive", *value), "1 or more");
  return value;
}

std::string describe(const std::vector<FlagGroup>& groups) {
  constexpr std::size_t kHelpColumn = 28;
  std::string text;
  for (const FlagGroup& group : groups) {
    text += fmt::format("\n{}:\n", group.title);
    for (const Flag& flag : group.flags) {
      std::string left = flag.letter == 0 ? "      " : fmt::format("  -{}, ", flag.letter);
      left += "--" + flag.name + (flag.value.empty() ? "" : " " + flag.value);
      if (left.size() + 2 > kHelpColumn)
        left += "\n" + std::string(kHelpColumn, ' ');
      else
        left += std::string(kHelpColumn - left.size(), ' ');
      text += left + flag.help + "\n";
      if (!flag.aliases.empty()) {
        text += std::string(kHelpColumn, ' ') + fmt::format("(also --{})\n", fmt::join(flag.aliases, ", --"));
      }
    }
  }
  return text;
}

}  // namespace tandem
