// SPDX-License-Identifier: Apache-2.0
// Any bytes are a search configuration, or are refused with ConfigError.
#include "arch/support/error.h"
#include "search/search_config.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tandem::test::InputFile file(data, size);
  try {
    (void)tandem::load_search_config(file.path());
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
