// SPDX-License-Identifier: Apache-2.0
#include "arch/config_io.h"

#include <vector>

namespace tandem {
namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    parts.push_back(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return parts;
}

std::string indent(std::size_t depth) { return std::string(2 * depth, ' '); }

}  // namespace

std::pair<std::string_view, std::string_view> split_path(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return {{}, path};
  return {path.substr(0, dot), path.substr(dot + 1)};
}

FieldReader::FieldReader(ConfigSection root, std::initializer_list<std::string_view> optional_sections)
    : optional_(optional_sections.begin(), optional_sections.end()) {
  sections_.emplace(std::string(), std::move(root));
}

const ConfigSection& FieldReader::section_of(std::string_view path) {
  if (const auto known = sections_.find(path); known != sections_.end()) return known->second;
  const auto [parent, key] = split_path(path);
  const ConfigSection& above = section_of(parent);
  ConfigSection section = optional_.contains(path) ? above.optional_section(key) : above.section(key);
  return sections_.emplace(std::string(path), std::move(section)).first->second;
}

std::string yaml_text(bool value) { return value ? "true" : "false"; }

std::string yaml_text(std::int64_t value) { return fmt::format("{}", value); }

std::string yaml_text(double value) { return fmt::format("{}", value); }

std::string yaml_text(const std::string& value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

void FieldWriter::put(std::string_view path, std::string_view key, std::string_view text) {
  std::string section = root_;
  if (!section.empty() && !path.empty()) section += '.';
  section += path;
  const std::vector<std::string_view> wanted = parts_of(section);
  const std::vector<std::string_view> open = parts_of(section_);
  std::size_t common = 0;
  while (common < wanted.size() && common < open.size() && wanted[common] == open[common]) ++common;
  for (std::size_t depth = common; depth < wanted.size(); ++depth) {
    text_ += fmt::format("{}{}:\n", indent(depth), wanted[depth]);
  }
  text_ += fmt::format("{}{}: {}\n", indent(wanted.size()), key, text);
  section_ = std::move(section);
}

}  // namespace tandem
