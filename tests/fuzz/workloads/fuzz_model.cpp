// SPDX-License-Identifier: Apache-2.0
// Any bytes are a model whose parameters can be counted, or are refused with ConfigError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/support/error.h"
#include "workloads/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto model = tandem::parse_model(std::string_view(reinterpret_cast<const char*>(data), size), "input");
    (void)tandem::count_parameters(model);
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
