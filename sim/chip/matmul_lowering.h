// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "arch/chip.h"
#include "sim/chip/lowering.h"
#include "workloads/mapping.h"
#include "workloads/operator.h"

namespace tandem::sim {

/// Blocks in the order of the mapping's loops, tasks and steps as mapping.h defines them. Moves the bytes that
/// matmul_traffic counts, and besides them the extra operands of the epilogue.
class MatmulLowering : public Lowering {
 public:
  MatmulLowering(const Chip& chip, const Operator& op, const Mapping& mapping);

  std::optional<BlockPlan> next_block() override;
  std::int64_t steps(const BlockPlan& block, std::int64_t task) override;
  std::int64_t loop_end(const BlockPlan& block, std::int64_t task) override;
  TileStep step(const BlockPlan& block, std::int64_t task, std::int64_t step) override;
  TaskResult result(const BlockPlan& block, std::int64_t task) override;

 private:
  /// Block numbers along batch, m, n, k.
  using Index = std::array<std::int64_t, 4>;
  struct Output {
    std::int64_t row = 0, col = 0, part = 0;  ///< in tiles
  };
  struct Timing {
    TileShape shape;
    TileTime time;
    Bytes local_traffic;
  };

  /// What all steps of a task share.
  struct Task {
    std::int64_t block = -1, task = -1;
    Output output;
    std::int64_t begin = 0, end = 0;  ///< tiles along k
    std::int64_t whole = 0;           ///< the first tile along k of less than full depth
    TileStep inner;                   ///< of a step that is neither the first nor of less depth
  };

  [[nodiscard]] std::optional<Index> following(Index index) const;
  [[nodiscard]] TileShape block_shape(const Index& index) const;
  void plan_operands(BlockPlan& block, const Index* next);
  void plan_output(BlockPlan& block, const Index* next);
  void plan_tasks(BlockPlan& block);
  [[nodiscard]] Output output_of(const BlockPlan& block, std::int64_t task) const;
  [[nodiscard]] TileShape tile_shape(const BlockPlan& block, const Output& output, std::int64_t k_tile) const;
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> k_range(const BlockPlan& block, const Output& output) const;
  [[nodiscard]] Picoseconds vector_time(OperatorKind kind, Pass pass, const VectorShape& shape) const;
  [[nodiscard]] Picoseconds epilogue_time(const TileShape& tile) const;
  const Timing& timing(const TileShape& tile);
  const Task& task_of(const BlockPlan& block, std::int64_t task);
  [[nodiscard]] TileStep make_step(const BlockPlan& block, const Task& task, std::int64_t step);
  [[nodiscard]] std::array<std::int64_t, 2> shared_of(const BlockPlan& block, const Task& task,
                                                      std::int64_t k_tile) const;

  const Chip& chip_;
  const Operator& op_;
  const Mapping mapping_;
  Clock clock_, tensor_clock_;
  LoopTrips trips_;
  bool stays_in_core_ = true;
  bool masks_tasks_ = false;
  std::optional<Index> index_, previous_;
  std::int64_t ordinal_ = 0, tasks_before_ = 0, output_elements_ = 0;
  std::array<std::int64_t, 2> loaded_elements_{};
  std::array<Share, 2> operand_;
  Share output_, extra_read_, extra_write_;
  std::array<Residency, kSlots> where_{};
  std::vector<Timing> timings_;
  std::vector<Task> tasks_;  ///< the latest of every core
};

}  // namespace tandem::sim
