// SPDX-License-Identifier: Apache-2.0
// Any text is a quantity or a UnitError; a quantity survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "arch/support/units.h"

namespace {

template <typename T>
void try_as(std::string_view text) {
  const auto parsed = tandem::parse_quantity<T>(text);
  const T* value = std::get_if<T>(&parsed);
  if (value == nullptr) return;
  (void)tandem::to_text(*value);
  const auto again = tandem::parse_quantity<T>(tandem::to_exact_text(*value));
  const T* same = std::get_if<T>(&again);
  if (same == nullptr || *same != *value) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_as<tandem::Bytes>(text);
  try_as<tandem::Flops>(text);
  try_as<tandem::Cycles>(text);
  try_as<tandem::Bandwidth>(text);
  try_as<tandem::FlopRate>(text);
  try_as<tandem::Frequency>(text);
  try_as<tandem::Area>(text);
  try_as<tandem::Energy>(text);
  try_as<tandem::Power>(text);
  try_as<tandem::Length>(text);
  try_as<tandem::Seconds>(text);
  return 0;
}
