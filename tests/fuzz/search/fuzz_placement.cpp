// SPDX-License-Identifier: Apache-2.0
// Any bytes are a placement instance that is solved or proven infeasible, or are refused with ConfigError.
#include "search/parity/nest_placement.h"
#include "search/parity/phaze_placement.h"
#include "tests/fuzz/input_file.h"

namespace {

/// Larger graphs take longer than one fuzzer's run may.
template <typename Instance>
bool is_small(const Instance& instance) {
  for (const auto& graph : instance.graphs) {
    if (graph.layers.size() > 20) return false;
  }
  return instance.graphs.size() < 5;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tandem::test::InputFile file(data, size);
  try {
    const auto instance = tandem::load_phaze_instance(file.path());
    if (is_small(instance)) (void)tandem::solve_phaze(instance);
  } catch (const tandem::ConfigError&) {
  }
  try {
    const auto instance = tandem::load_nest_instance(file.path());
    if (is_small(instance)) (void)tandem::solve_nest(instance);
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
