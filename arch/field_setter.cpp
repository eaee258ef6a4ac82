// SPDX-License-Identifier: Apache-2.0
#include "arch/field_setter.h"

#include <algorithm>
#include <memory>

#include "arch/chip_fields.h"
#include "arch/support/error.h"

namespace tandem {
namespace {

/// Finds one field of the table, with its check.
struct FieldFinder {
  std::string_view wanted;
  FieldRef field{};
  const Check* check = nullptr;  ///< set once found

  template <typename T>
  void operator()(std::string_view path, T& candidate, const Check& its_check, Presence) {
    if (path != wanted) return;
    field = &candidate;
    check = &its_check;
  }

  template <typename K, typename V>
  void operator()(std::string_view path, std::map<K, V>& entries, const Check& its_check, Presence) {
    const auto [parent, key] = split_path(wanted);
    if (parent != path) return;
    if constexpr (NamedEnum<K>) {
      const std::optional<K> known = enum_from_name<K>(key);
      if (!known) return;
      field = &entries[*known];
    } else {
      if (std::find(kLaunchKinds.begin(), kLaunchKinds.end(), key) == kLaunchKinds.end()) return;
      field = &entries[std::string(key)];
    }
    check = &its_check;
  }
};

FieldFinder find(Chip& chip, std::string_view path) {
  FieldFinder finder{path};
  visit_chip_fields(chip, finder);
  return finder;
}

struct PathLister {
  std::vector<std::string> paths;

  template <typename T>
  void operator()(std::string_view path, const T&, const Check&, Presence) {
    paths.emplace_back(path);
  }
  template <typename K, typename V>
  void operator()(std::string_view path, const std::map<K, V>& entries, const Check&, Presence) {
    for (const auto& [key, value] : entries) {
      if constexpr (NamedEnum<K>) {
        paths.push_back(fmt::format("{}.{}", path, name_of(key)));
      } else {
        paths.push_back(fmt::format("{}.{}", path, key));
      }
    }
  }
};

/// A value list as a file of one key, so that the reader's own rules and messages hold.
ConfigNode as_tree(const std::string& path, const std::vector<std::string>& values) {
  ConfigNode list;
  list.kind = ConfigNode::Kind::list;
  for (const std::string& value : values) {
    ConfigNode item;
    item.kind = ConfigNode::Kind::scalar;
    item.scalar = value;
    list.items.push_back(item);
  }
  ConfigNode root;
  root.kind = ConfigNode::Kind::map;
  root.entries.push_back({.key = path, .line = 0, .column = 0, .value = list});
  return root;
}

template <typename T>
std::vector<T> parse_values(const std::string& path, const std::vector<std::string>& values, const Check& check) {
  ConfigFile file(as_tree(path, values), "design space");
  std::vector<T> parsed = file.root().list<T>(path, check);
  file.finish();
  return parsed;
}

}  // namespace

std::optional<FieldRef> find_field(Chip& chip, std::string_view path) {
  const FieldFinder found = find(chip, path);
  if (found.check == nullptr) return std::nullopt;
  return found.field;
}

std::vector<std::string> field_paths(const Chip& chip) {
  PathLister lister;
  visit_chip_fields(chip, lister);
  return lister.paths;
}

FieldSetter make_setter(Chip& chip, const std::string& path, const std::vector<std::string>& values) {
  const FieldFinder found = find(chip, path);
  if (found.check == nullptr) {
    throw ConfigError({{.file = "design space",
                        .path = path,
                        .problem = "a chip has no such field",
                        .expected = "the path of a field in a chip file",
                        .suggestion = nearest_name(path, field_paths(chip))}});
  }
  if (values.empty()) {
    throw ConfigError({{.file = "design space",
                        .path = path,
                        .problem = "has no values",
                        .expected = "at least one",
                        .suggestion = {}}});
  }
  return std::visit(
      [&](auto* field) {
        using T = std::remove_pointer_t<decltype(field)>;
        auto parsed = std::make_shared<const std::vector<T>>(parse_values<T>(path, values, *found.check));
        return FieldSetter{parsed->size(), [field, parsed](std::size_t i) { *field = (*parsed)[i]; }};
      },
      found.field);
}

}  // namespace tandem
