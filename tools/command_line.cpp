// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <thread>

#include "arch/support/config_tree.h"
#include "sim/simulate.h"
#include "tools/interrupt.h"
#include "tools/version.h"

namespace tandem {
namespace {

std::vector<Verb> all_verbs() {
  return {search_verb(), predict_verb(), simulate_verb(), validate_verb(), place_verb(), show_verb(), export_verb()};
}

FlagGroup common_flags() {
  return {"Common",
          {{"json", 0, "", "print JSON, and nothing else, to standard output", false, {}},
           {"quiet", 'q', "", "no notes and no progress on standard error", false, {}},
           {"jobs", 'j', "N", "worker processes (default: one per core); results do not depend on it", false, {}},
           {"help", 'h', "", "this text", false, {}}}};
}

std::string overview(const std::vector<Verb>& verbs) {
  std::string text =
      "tandem: searches for the accelerator architecture and the device placement that train a model fastest,\n"
      "and proves the winners on an event-driven SystemC simulator.\n\nusage: tandem VERB [options]\n\nverbs:\n";
  for (const Verb& verb : verbs) text += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
  return text +
         "\n`tandem VERB --help` explains a verb with examples; `tandem --version` names all libraries.\n"
         "\nexit codes: 0 done; 1 it ran and the answer is \"cannot\"; 2 bad usage or input; 3 internal error or\n"
         "deadlock; 130 interrupted, everything so far kept.\n";
}

std::string help_of(const Verb& verb) {
  return fmt::format("usage: tandem {} {}\n\n{}\n{}\nexamples:\n{}", verb.name, verb.usage, verb.details,
                     describe(verb.flags), verb.examples);
}

Session session_of(const Arguments& arguments, std::span<const std::string> words) {
  Session session;
  session.json = arguments.has("json");
  session.quiet = arguments.has("quiet");
  const unsigned cores = std::thread::hardware_concurrency();
  session.jobs = cores == 0 ? 1 : static_cast<int>(cores);
  if (const auto jobs = arguments.positive("jobs")) {
    constexpr std::int64_t kMostJobs = 1024;
    if (*jobs > kMostJobs) throw ConfigError(fmt::format("--jobs: {} is too many; at most {}", *jobs, kMostJobs));
    session.jobs = static_cast<int>(*jobs);
  }
  session.command_line = fmt::format("tandem {}", fmt::join(words, " "));
  return session;
}

ExitCode run_verb(Verb verb, std::span<const std::string> words) {
  verb.flags.push_back(common_flags());
  const Arguments arguments(words.subspan(1), verb.flags, verb.most_files);
  if (arguments.has("help")) {
    print(help_of(verb));
    return ExitCode::done;
  }
  return verb.run(arguments, session_of(arguments, words));
}

ExitCode dispatch(std::span<const std::string> words) {
  const std::vector<Verb> verbs = all_verbs();
  if (words.empty()) {
    fmt::print(stderr, "{}", overview(verbs));
    return ExitCode::bad_input;
  }
  const std::string& name = words.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print(overview(verbs));
    return ExitCode::done;
  }
  if (name == "--version" || name == "-V" || name == "version") {
    print(version_text());
    return ExitCode::done;
  }
  std::vector<std::string> names{"--help", "--version"};
  for (const Verb& verb : verbs) {
    if (verb.name == name) return run_verb(verb, words);
    names.emplace_back(verb.name);
  }
  const std::string near = nearest_name(name, names);
  throw ConfigError(fmt::format("'{}': no such verb{}; `tandem --help` lists them", name,
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

ExitCode fail(ExitCode code, std::string_view kind, const char* what) {
  fmt::print(stderr, "{}{}\n", kind, what);
  return code;
}

}  // namespace

int run_command_line(std::span<const std::string> words) {
  ExitCode code = ExitCode::done;
  try {
    code = dispatch(words);
  } catch (const ConfigError& error) {
    code = fail(ExitCode::bad_input, "error: ", error.what());
  } catch (const InfeasibleError& error) {
    code = fail(ExitCode::cannot, "cannot: ", error.what());
  } catch (const CancelledError& error) {
    code = fail(ExitCode::interrupted, "interrupted: ", error.what());
  } catch (const DeadlockError& error) {
    code = fail(ExitCode::internal, "deadlock: ", error.what());
  } catch (const std::overflow_error& error) {
    code = fail(ExitCode::bad_input, "error: the input is too large: ", error.what());
  } catch (const std::bad_alloc&) {
    code = fail(ExitCode::cannot, "cannot: ", "out of host memory");
  } catch (const std::exception& error) {
    code = fail(ExitCode::internal, "internal error: ", error.what());
  }
  if (interrupted() && code != ExitCode::done) code = ExitCode::interrupted;
  return static_cast<int>(code);
}

}  // namespace tandem
