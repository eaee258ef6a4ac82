// SPDX-License-Identifier: Apache-2.0
// Any bytes are a plan that can be judged and written again, or are refused with ConfigError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "arch/support/error.h"
#include "workloads/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto plan = tandem::parse_plan(std::string_view(reinterpret_cast<const char*>(data), size), "input");
    const auto model = tandem::make_gpt("gpt", 12, 768, 12, 3072, 50257, 1024);
    (void)tandem::problems(plan, model, plan.devices());
    if (tandem::parse_plan(tandem::to_yaml(plan), "again") != plan) std::abort();
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
