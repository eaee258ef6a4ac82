// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tandem {

struct ParityStage {
  std::vector<std::int64_t> layers;  ///< ids, in order
  double load = 0;                   ///< forward + backward of one microbatch, waits included
  double memory_bytes = 0;
  std::int64_t devices = 1;
};

/// The optimum under another tool's objective, in that tool's unit of time.
struct ParityPlan {
  bool feasible = false;
  double time = 0;  ///< of one iteration
  std::int64_t tensor_parallel = 1, data_parallel = 1;
  std::vector<ParityStage> stages;  ///< first to last
  /// If infeasible: the layer that needs most memory on its own, at the width where that is least, and how much.
  std::int64_t worst_layer = 0;
  double worst_layer_bytes = 0;
};

}  // namespace tandem
