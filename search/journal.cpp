// SPDX-License-Identifier: Apache-2.0
#include "search/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "arch/support/error.h"

namespace tandem {
namespace {

constexpr auto kFormat = "tandem-search-journal";
constexpr int kVersion = 1;
constexpr int kDeepest = 64;

[[noreturn]] void refuse(const std::filesystem::path& file, int line, const std::string& problem,
                         const std::string& expected) {
  Diagnostic diagnostic;
  diagnostic.file = file.string();
  diagnostic.line = line;
  diagnostic.problem = problem;
  diagnostic.expected = expected;
  throw ConfigError({diagnostic});
}

std::string read_all(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(file, 0, "cannot be read", "the journal of an earlier run");
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool text_at(const nlohmann::json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string();
}

void read_header(const nlohmann::json& line, const std::filesystem::path& file, JournalContents& contents) {
  if (!text_at(line, "format") || line["format"] != kFormat || !text_at(line, "config")) {
    refuse(file, 1, "is not the journal of a search", std::string("a first line with format ") + kFormat);
  }
  if (line.value("version", nlohmann::json()) != kVersion) {
    refuse(file, 1, "has another version of the format", "version " + std::to_string(kVersion));
  }
  contents.config_hash = line["config"].get<std::string>();
}

nlohmann::json parse_line(std::string_view text, const std::filesystem::path& file, int number) {
  // Values are copied recursively, so their depth must be bounded.
  const auto bounded = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    if (depth > kDeepest) refuse(file, number, "nests too deep", "a line of JSON");
    return true;
  };
  auto line = nlohmann::json::parse(text.begin(), text.end(), bounded, false);
  if (line.is_discarded()) refuse(file, number, "is damaged", "a line of JSON");
  return line;
}

int open_for_writing(const std::filesystem::path& file, int flags) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0644);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), file.string());
  return descriptor;
}

}  // namespace

JournalContents parse_journal(std::string_view text, const std::filesystem::path& file) {
  JournalContents contents;
  std::size_t begin = 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;
    const auto line = parse_line(text.substr(begin, end - begin), file, number);
    if (number == 1) {
      read_header(line, file, contents);
    } else if (text_at(line, "key") && line.contains("value")) {
      contents.entries.emplace(line["key"].get<std::string>(), line["value"]);
    } else {
      refuse(file, number, "is no entry of a journal", "an object with key and value");
    }
    begin = end + 1;
  }
  if (begin == 0) refuse(file, 1, "holds no complete line", "the journal of an earlier run");
  contents.complete_bytes = begin;
  return contents;
}

JournalContents read_journal(const std::filesystem::path& file) { return parse_journal(read_all(file), file); }

Journal Journal::create(const std::filesystem::path& file, const std::string& config_hash) {
  Journal journal(open_for_writing(file, O_CREAT | O_TRUNC));
  journal.write_line({{"format", kFormat}, {"version", kVersion}, {"config", config_hash}});
  journal.sync();
  return journal;
}

Journal Journal::resume(const std::filesystem::path& file, const JournalContents& contents) {
  std::filesystem::resize_file(file, contents.complete_bytes);
  return Journal(open_for_writing(file, 0));
}

Journal::Journal(Journal&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::record(const std::string& key, const nlohmann::json& value) {
  write_line({{"key", key}, {"value", value}});
}

void Journal::sync() {
  if (::fdatasync(descriptor_) != 0) throw std::system_error(errno, std::generic_category(), "journal");
}

void Journal::write_line(const nlohmann::json& line) {
  // Texts of outside programs may hold bytes that are no UTF-8.
  std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "journal");
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace tandem
