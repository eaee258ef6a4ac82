// SPDX-License-Identifier: Apache-2.0
// Any bytes are a journal, cut short or not, or are refused with ConfigError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/support/error.h"
#include "search/journal.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)tandem::parse_journal(std::string_view(reinterpret_cast<const char*>(data), size), "journal.jsonl");
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
