// SPDX-License-Identifier: Apache-2.0
// The device placement: how a model is spread over the chips of a cluster and in which order it runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/cluster.h"
#include "arch/data_type.h"
#include "arch/support/enum_names.h"
#include "workloads/model.h"

namespace tandem {

enum class PipelineSchedule { gpipe, one_f_one_b, interleaved, zb_h1 };
enum class Recompute { none, selective, full };
enum class Optimizer { sgd, adam };
enum class Attention { unfused, flash };
/// Element-wise operators: kernels of their own, or riding on what feeds them (operator_graph.h, fuse).
enum class Fusion { none, epilogue };
/// Groups of devices that communicate. `data`: those that hold the same dense parameters (dp x cp); `expert_data`: the
/// same experts (dp / ep x cp); `embedding`: first and last pipeline stage, which share a tied table.
enum class Axis { tensor, context, expert, data, pipeline, expert_data, embedding };

template <>
struct EnumNames<PipelineSchedule> {
  static constexpr auto values =
      std::to_array<std::pair<PipelineSchedule, std::string_view>>({{PipelineSchedule::gpipe, "gpipe"},
                                                                    {PipelineSchedule::one_f_one_b, "1f1b"},
                                                                    {PipelineSchedule::interleaved, "interleaved"},
                                                                    {PipelineSchedule::zb_h1, "zb_h1"}});
};
template <>
struct EnumNames<Recompute> {
  static constexpr auto values = std::to_array<std::pair<Recompute, std::string_view>>(
      {{Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}});
};
template <>
struct EnumNames<Optimizer> {
  static constexpr auto values =
      std::to_array<std::pair<Optimizer, std::string_view>>({{Optimizer::sgd, "sgd"}, {Optimizer::adam, "adam"}});
};
template <>
struct EnumNames<Attention> {
  static constexpr auto values = std::to_array<std::pair<Attention, std::string_view>>(
      {{Attention::unfused, "unfused"}, {Attention::flash, "flash"}});
};
template <>
struct EnumNames<Fusion> {
  static constexpr auto values =
      std::to_array<std::pair<Fusion, std::string_view>>({{Fusion::none, "none"}, {Fusion::epilogue, "epilogue"}});
};
template <>
struct EnumNames<Axis> {
  static constexpr auto values = std::to_array<std::pair<Axis, std::string_view>>({{Axis::tensor, "tp"},
                                                                                   {Axis::context, "cp"},
                                                                                   {Axis::expert, "ep"},
                                                                                   {Axis::data, "dp"},
                                                                                   {Axis::pipeline, "pp"},
                                                                                   {Axis::expert_data, "edp"},
                                                                                   {Axis::embedding, "embedding"}});
};

struct Plan {
  std::int64_t tp = 1, pp = 1, dp = 1, cp = 1, ep = 1;
  bool sequence_parallel = false;
  std::int64_t global_batch = 0;  ///< sequences per iteration
  std::int64_t microbatch = 1;    ///< sequences per step of one pipeline
  std::int64_t sequence = 0;      ///< tokens per sequence; 0: the model's longest
  /// Transformer layers of each (virtual) stage, first to last; pp * virtual_stages entries. Embedding runs with the
  /// first, head and loss with the last. Empty: as even as can be, see resolved().
  std::vector<std::int64_t> stage_layers;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int64_t virtual_stages = 1;  ///< per device; above one only with `interleaved`
  Recompute recompute = Recompute::none;
  Optimizer optimizer = Optimizer::adam;
  std::int64_t zero_stage = 0;      ///< 0..3
  DataType dtype = DataType::bf16;  ///< of compute; fp8 and int8: inputs of linear layers, the rest bf16
  bool fp32_gradients = true;       ///< gradient accumulation and exchange in fp32 (Megatron mixed precision)
  Attention attention = Attention::unfused;
  bool fused_softmax = true;  ///< unfused attention: scale, mask and softmax in one; else with casts to fp32 and back
  bool overlap_gradients = false;  ///< exchange gradients during the last backward passes
  bool blocking_sends = false;     ///< a device waits until what it sends to another stage has arrived
  /// Each tensor-parallel rank sends its part of the activations between stages, and the receivers gather them.
  /// Source: Narayanan et al., SC'21 (arXiv 2104.04473), section 4.1.
  bool scattered_sends = false;
  Fusion fusion = Fusion::epilogue;

  bool operator==(const Plan&) const = default;

  [[nodiscard]] std::int64_t devices() const;       ///< tp * cp * dp * pp (ep divides dp)
  [[nodiscard]] std::int64_t microbatches() const;  ///< per pipeline: global_batch / (dp * microbatch)
};

/// Everything that makes the plan impossible for this model and number of devices: degrees that do not divide heads,
/// batch or devices, stages that do not add up (each with the numbers, and the next ones that would do). Empty if fine.
std::vector<std::string> problems(const Plan& plan, const TransformerModel& model, std::int64_t devices);

/// The plan with `stage_layers` and `sequence` filled in where it leaves them open: even stages, the model's longest
/// sequence.
Plan resolved(Plan plan, const TransformerModel& model);

/// What the plan says without effect ("sequence_parallel: nothing to split with tp 1"), for reports.
std::vector<std::string> remarks(const Plan& plan, const TransformerModel& model);

/// Layers as even as can be over `stages`, the earlier stages taking the remainder (30 over 4: 8, 8, 7, 7).
std::vector<std::int64_t> even_stages(std::int64_t layers, std::int64_t stages);

/// Position of a device along each axis, and back. Rank order from the fastest: tp, cp, dp, pp (Megatron's); the ep
/// groups are consecutive members of a dp group.
struct Coordinates {
  std::int64_t tp = 0, cp = 0, dp = 0, pp = 0;
};
Coordinates coordinates(const Plan& plan, std::int64_t device);
std::int64_t device_at(const Plan& plan, const Coordinates& at);
/// The devices that communicate along `axis` with the device at `at`, in order.
std::vector<std::int64_t> group(const Plan& plan, Axis axis, const Coordinates& at);

Plan load_plan(const std::filesystem::path& file);
Plan parse_plan(std::string_view text, const std::string& name);  ///< text that did not come from a file
std::string to_yaml(const Plan& plan);

}  // namespace tandem
