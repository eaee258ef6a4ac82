// SPDX-License-Identifier: Apache-2.0
// Measured latencies of single operators, and of transformer layers under tensor parallelism.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "search/mapper.h"
#include "search/predict.h"
#include "sim/simulate.h"
#include "tools/against/machines.h"
#include "workloads/program.h"

namespace tandem {
namespace {

/// Element-wise rows give only a number of elements; any shape does as much work. The widest rows that divide it.
VectorShape flat_shape(std::int64_t elements) {
  constexpr std::int64_t kWidest = 8192;
  for (std::int64_t cols = std::min(kWidest, elements); cols > 1; --cols) {
    if (elements % cols == 0) return {elements / cols, cols};
  }
  return {elements, 1};
}

Operator operator_of(const CsvRow& row) {
  const std::string name = row.text("op");
  const auto kind = enum_from_name<OperatorKind>(name);
  if (!kind) throw RowFailure("unknown operator", name);
  const DataType dtype = dtype_of_row(row.text("dtype"));
  if (is_matmul(*kind)) {
    const MatmulShape shape{row.maybe_integer("batch").value_or(1), row.integer("M"), row.integer("N"),
                            row.integer("K")};
    return make_matmul(name, shape, dtype);
  }
  const VectorShape shape = row.has("M") && row.has("N") ? VectorShape{row.integer("M"), row.integer("N")}
                                                         : flat_shape(row.integer("elements"));
  return make_vector(name, *kind, shape, dtype);
}

/// The row was timed from the host, calling the operator on the same tensors again and again.
bool is_timed_from_host(const CsvRow& row) { return row.text("includes_launch_overhead").starts_with("yes"); }

/// Operands as a repetition finds them: in the last cache if they all fit it. Of more, a cache that resists being
/// swept keeps what half of it holds (assumed), so much less comes from HBM.
Operator repeated(Operator op, const Chip& chip) {
  double total = 0;
  for (const auto* operands : {&op.inputs, &op.outputs}) {
    for (const Operand& operand : *operands) total += static_cast<double>(operand.bytes.value());
  }
  const auto capacity = static_cast<double>(chip.glb.capacity.value());
  const double left = 1 - capacity / 2 / total;
  for (auto* operands : {&op.inputs, &op.outputs}) {
    for (Operand& operand : *operands) {
      if (total <= capacity) {
        operand.where = Residency::global_buffer;
      } else {
        operand.bytes = Bytes(static_cast<std::int64_t>(static_cast<double>(operand.bytes.value()) * left));
      }
    }
  }
  return op;
}

/// Kernels that the row's time is the sum of. Phi-2 computes attention and MLP side by side and adds both to the
/// residual: two additions (Hugging Face's configuration of microsoft/phi-2 and its layer's forward).
std::int64_t kernels_of(const CsvRow& row) {
  return row.text("op") == "residual_add" && row.text("context").starts_with("microsoft/phi-2") ? 2 : 1;
}

/// What the host adds to an operator that was timed from there.
Seconds host_overhead(const Chip& chip, const CsvRow& row) {
  if (!is_timed_from_host(row)) return Seconds(0);
  const auto& host = chip.launch.host;
  const auto own = host.find(row.text("op"));
  if (own != host.end()) return own->second;
  const auto other = host.find("other");
  return other == host.end() ? Seconds(0) : other->second;
}

RowAnswer evaluate_operator(const CsvRow& row, const MachineOverride& machine, const SimulationOptions* options) {
  const Chip chip = chip_of_row(row.text("device"), machine);
  const Operator described = operator_of(row);
  const Operator op = is_timed_from_host(row) ? repeated(described, chip) : described;
  if (is_matmul(op.kind) && !chip.supports(op.dtype)) {
    throw RowFailure("data type not supported by the chip", fmt::format("{} on {}", name_of(op.dtype), chip.name));
  }
  const Mapping mapping = map_operator(chip, op);
  const double host = host_overhead(chip, row).count();
  const auto kernels = static_cast<double>(kernels_of(row));
  constexpr double kMicrosecond = 1e-6;
  return {
      chip.name,
      {{"latency_s", kernels * to_seconds(predict_operator(chip, op, mapping).time).count() + host,
        options == nullptr ? NAN
                           : kernels * to_seconds(simulate_operator(chip, op, mapping, *options).time).count() + host,
        row.number("latency_us") * kMicrosecond}},
      {}};
}

/// The whole number after `key` in free text ("heads 64").
std::int64_t number_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  std::int64_t value = 0;
  if (at == std::string::npos ||
      std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value).ec != std::errc()) {
    throw RowFailure("the context does not describe the layer", fmt::format("no '{}' in '{}'", key, text));
  }
  return value;
}

/// One layer of a GPT under tensor parallelism, its collectives included.
/// Source of such rows: Korthikanti et al. (arXiv 2205.05198), table 4.
RowAnswer evaluate_layer(const CsvRow& row, const MachineOverride& machine, const SimulationOptions* options) {
  const std::string context = row.text("context");
  const std::int64_t hidden = row.integer("N");
  const std::int64_t heads = number_after(context, "heads ");
  Plan plan;
  plan.tp = row.integer("tensor_parallel");
  plan.microbatch = plan.global_batch = row.integer("batch");
  plan.sequence = number_after(context, "seq ");
  plan.sequence_parallel = context.find("sequence parallel") != std::string::npos;
  plan.recompute = context.find("full recompute") != std::string::npos        ? Recompute::full
                   : context.find("selective recompute") != std::string::npos ? Recompute::selective
                                                                              : Recompute::none;
  plan.dtype = dtype_of_row(row.text("dtype"));
  plan.stage_layers = {1};
  constexpr std::int64_t kFfnRatio = 4, kAnyVocabulary = 51200;
  const TransformerModel model =
      make_gpt("layer", 1, hidden, heads, checked_product(kFfnRatio, hidden), kAnyVocabulary, plan.sequence);
  const Cluster cluster = cluster_of_row(row.text("device"), "", machine).resized(plan.tp);
  Program program = build_program(model, plan);
  map_program(cluster.chip, program);
  const auto time = [&](const Answer& answer) {
    const auto layer = std::find_if(answer.layers.begin(), answer.layers.end(),
                                    [](const LayerAnswer& candidate) { return candidate.name == "block"; });
    if (layer == answer.layers.end()) throw std::logic_error("the program has no block");
    return to_seconds(row.text("op").ends_with("forward") ? layer->forward : layer->backward).count();
  };
  constexpr double kMicrosecond = 1e-6;
  return {cluster.name,
          {{"latency_s", time(predict(cluster, program)),
            options == nullptr ? NAN : time(simulate(cluster, program, *options)),
            row.number("latency_us") * kMicrosecond}},
          {}};
}

RowAnswer evaluate(const CsvRow& row, const MachineOverride& machine, const SimulationOptions* options) {
  return row.text("op").starts_with("transformer_layer_") ? evaluate_layer(row, machine, options)
                                                          : evaluate_operator(row, machine, options);
}

}  // namespace

ReferenceKind operators_kind() {
  return {"operators", {"device", "op", "dtype", "M", "N", "K", "latency_us"}, {"op", "device"}, evaluate};
}

}  // namespace tandem
