// SPDX-License-Identifier: Apache-2.0
// Any bytes are a technology that reads the same when written and read again, or are refused with ConfigError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "arch/config.h"
#include "arch/support/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto read =
        tandem::load_technology_text(std::string_view(reinterpret_cast<const char*>(data), size), "input");
    const std::string text = tandem::to_yaml(read);
    if (tandem::to_yaml(tandem::load_technology_text(text, "again")) != text) std::abort();
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
