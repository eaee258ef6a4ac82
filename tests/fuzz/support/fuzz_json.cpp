// SPDX-License-Identifier: Apache-2.0
// Any bytes are read as a JSON config or refused with ConfigError; every other exception is a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/support/error.h"
#include "tests/support/chip_like_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tandem::test::read_chip_like(
        tandem::parse_json(std::string_view(reinterpret_cast<const char*>(data), size), "input"), "input");
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
