// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "arch/support/error.h"
#include "search/map_kinds.h"
#include "search/operator_times.h"
#include "workloads/vector_work.h"

namespace tandem {
namespace {

/// Bytes of all operands, per element of the operator's shape.
double bytes_per_element(const Operator& op) {
  double bytes = 0;
  for (const Operand& operand : op.inputs) bytes += static_cast<double>(operand.bytes.value());
  for (const Operand& operand : op.outputs) bytes += static_cast<double>(operand.bytes.value());
  for (const FusedWork& work : op.epilogue) {
    bytes += static_cast<double>(work.extra_read.value() + work.extra_write.value());
  }
  return bytes / static_cast<double>(checked_product(op.vector.rows, op.vector.cols));
}

/// `whole` cut so that all cores have the same number of tiles: one, two, ... each, none larger than `most`.
std::vector<std::int64_t> even_cuts(std::int64_t whole, std::int64_t most, std::int64_t cores) {
  std::vector<std::int64_t> cuts;
  const auto add = [&](std::int64_t size) {
    size = std::clamp<std::int64_t>(size, 1, std::min(whole, most));
    if (std::find(cuts.begin(), cuts.end(), size) == cuts.end()) cuts.push_back(size);
  };
  const std::int64_t least_rounds = ceil_div(ceil_div(whole, most), cores);
  for (const std::int64_t more : {0, 1, 2, 3, 7, 15}) {
    const std::int64_t tiles = checked_product(cores, std::max<std::int64_t>(1, least_rounds) + more);
    add(ceil_div(whole, tiles));
  }
  add(most);
  return cuts;
}

}  // namespace

VectorMapping map_vector(const Chip& chip, const Operator& op, CoreRange vector_cores) {
  const auto& [rows, cols] = op.vector;
  const double element = bytes_per_element(op);
  // The next tile loads while the present one computes.
  const double room = static_cast<double>(chip.vector.local_buffer.value()) / 2;
  // A tile for every core, twice, in the global buffer: else it feeds only some of them.
  const double each = static_cast<double>(chip.glb.capacity.value()) / 2 / static_cast<double>(vector_cores.count);
  const double row = element * static_cast<double>(cols);
  const double tile = row <= room ? std::min(room, std::max(each, row)) : room;
  const auto elements = static_cast<std::int64_t>(element > 0 ? std::min(tile / element, 1e15) : 1e15);
  if (elements < 1) {
    throw InfeasibleError("operator " + op.name + ": not even one element's operands (" + std::to_string(element) +
                          " bytes, twice) fit the vector cores' local buffer of " +
                          std::to_string(chip.vector.local_buffer.value()) + " bytes of " + chip.name);
  }
  std::vector<VectorMapping> candidates;
  const VectorWork work = vector_work(op.kind, op.pass);
  if (elements >= cols) {
    for (const std::int64_t size : even_cuts(rows, elements / cols, vector_cores.count)) {
      candidates.push_back({size, cols, 1});
    }
  }
  const bool whole_rows = row_kernel(chip.vector, op.kind, op.pass).has_value();
  if ((work.passes == 1 && !whole_rows) || elements < cols) {
    const std::int64_t sharers = std::max<std::int64_t>(1, vector_cores.count / rows);
    for (const std::int64_t size : even_cuts(cols, elements, sharers)) candidates.push_back({1, size, work.passes});
  }
  std::optional<VectorMapping> best;
  double least = 0;
  for (const VectorMapping& candidate : candidates) {
    const double time = vector_times(chip, op, {{}, candidate, {}, vector_cores}).total.count();
    if (best && time >= least) continue;
    best = candidate;
    least = time;
  }
  return *best;
}

}  // namespace tandem
