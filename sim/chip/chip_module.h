// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "arch/chip.h"
#include "sim/chip/command_processor.h"
#include "sim/chip/dma_engine.h"
#include "sim/chip/global_buffer.h"
#include "sim/chip/hbm_stack.h"
#include "sim/chip/noc.h"
#include "sim/chip/tensor_core.h"
#include "sim/chip/tile_folder.h"
#include "sim/chip/vector_core.h"
#include "sim/chip_simulation.h"
#include "workloads/program.h"

namespace tandem::sim {

/// In which order parts are constructed, which must not matter: SystemC runs the processes of one delta cycle in an
/// order that follows from it.
enum class BuildOrder { forward, reverse };

/// A chip and the commands of one slice, built and wired from plain data. The only place that knows every part.
class ChipModule : public sc_core::sc_module {
 public:
  /// `chip`, `slice` and `options` must outlive the module; they must suit each other (check_slice).
  ChipModule(sc_core::sc_module_name name, const Chip& chip, const Slice& slice, const SimulationOptions& options,
             const ChipTrace& trace, BuildOrder build_order = BuildOrder::forward);

  [[nodiscard]] CommandProcessor& command_processor() { return *commands_; }
  /// Of all processes so far.
  [[nodiscard]] std::int64_t activations() const;
  /// Operator indices in the order of the schedule.
  [[nodiscard]] const std::vector<std::int32_t>& order() const { return order_; }
  [[nodiscard]] const GlobalBuffer& global_buffer() const { return *buffer_; }
  [[nodiscard]] const Noc& noc() const { return *noc_; }
  /// What was folded.
  [[nodiscard]] TileFolder::Stats folded() const { return folder_ == nullptr ? TileFolder::Stats() : folder_->stats(); }
  [[nodiscard]] const std::vector<std::unique_ptr<HbmStack>>& hbm() const { return hbm_; }
  [[nodiscard]] const std::vector<std::unique_ptr<TensorCore>>& tensor_cores() const { return tensor_; }
  [[nodiscard]] const std::vector<std::unique_ptr<VectorCore>>& vector_cores() const { return vector_; }

 private:
  template <typename Build>
  void each(std::int64_t count, Build build) const;
  void build_stacks();
  void build_dma();
  [[nodiscard]] Tracer tracer(Detail from, std::int32_t unit) const;
  void build_memory();
  void build_cores();
  void build_folder();
  void build_commands();
  [[nodiscard]] CommandProcessor::Command command(std::size_t position) const;
  [[nodiscard]] RunResources resources(std::size_t position) const;

  const Chip& chip_;
  const Slice& slice_;
  const SimulationOptions& options_;
  const ChipTrace& trace_;
  BuildOrder build_order_;
  std::vector<std::int32_t> order_, trace_ids_;
  std::unique_ptr<GlobalBuffer> buffer_;
  std::unique_ptr<Noc> noc_;
  std::vector<std::unique_ptr<HbmStack>> hbm_;
  std::vector<std::unique_ptr<DmaEngine>> dma_;
  std::vector<std::unique_ptr<TensorCore>> tensor_;
  std::vector<std::unique_ptr<VectorCore>> vector_;
  std::unique_ptr<TileFolder> folder_;
  std::unique_ptr<CommandProcessor> commands_;
};

/// Schedule order, or graph order for an empty schedule.
std::vector<std::int32_t> schedule_order(const Slice& slice);

/// ConfigError or InfeasibleError for what the chip cannot run: nothing may go wrong once the simulation runs.
void check_slice(const Chip& chip, const Slice& slice);

}  // namespace tandem::sim
