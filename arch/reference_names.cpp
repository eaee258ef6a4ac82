// SPDX-License-Identifier: Apache-2.0
#include "arch/reference_names.h"

#include "arch/config.h"
#include "arch/support/config_reader.h"

namespace tandem {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;

Names read_names(const ConfigSection& section) {
  Names names;
  for (const std::string& key : section.keys()) names[key] = section.get<std::string>(key);
  return names;
}

std::optional<std::string> look_up(const Names& names, std::string_view name) {
  const auto entry = names.find(name);
  if (entry == names.end()) return std::nullopt;
  return entry->second;
}

}  // namespace

std::optional<std::string> ReferenceNames::chip_for(std::string_view name) const { return look_up(chips, name); }

std::optional<std::string> ReferenceNames::cluster_for(std::string_view name) const { return look_up(clusters, name); }

ReferenceNames load_reference_names(const std::filesystem::path& path) {
  ConfigFile file(path);
  const ConfigSection root = file.root();
  ReferenceNames names{read_names(root.section("chips")), read_names(root.section("clusters"))};
  file.finish();
  return names;
}

ReferenceNames load_reference_names() { return load_reference_names(config_directory() / "reference.yaml"); }

}  // namespace tandem
