// SPDX-License-Identifier: Apache-2.0
// One table of names per enumeration, used by configs, command line, JSON and HDF5 alike.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace tandem {

/// Specialise with `static constexpr auto values = std::to_array<std::pair<E, std::string_view>>({...});`
/// The first name of a value is the one written; further pairs of the same value are accepted aliases.
template <typename E>
struct EnumNames;

template <typename E>
constexpr std::string_view name_of(E value) {
  for (const auto& [candidate, name] : EnumNames<E>::values) {
    if (candidate == value) return name;
  }
  return "?";
}

template <typename E>
constexpr std::optional<E> enum_from_name(std::string_view text) {
  for (const auto& [value, name] : EnumNames<E>::values) {
    if (name == text) return value;
  }
  return std::nullopt;
}

}  // namespace tandem
