// SPDX-License-Identifier: Apache-2.0
// Measured training iterations with their whole configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "search/mapper.h"
#include "search/predict.h"
#include "sim/simulate.h"
#include "tools/against/effects.h"
#include "tools/against/machines.h"
#include "workloads/program.h"

namespace tandem {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Gathers what a row leaves open and how it was filled in.
using Assumed = std::vector<std::string>;

/// Heads where the source does not say: the divisor of tp's share that brings the head size nearest to 128.
std::int64_t likely_heads(std::int64_t hidden, std::int64_t tp) {
  constexpr double kUsualHead = 128;
  std::int64_t best = tp;
  double distance = INFINITY;
  for (std::int64_t heads = tp; heads <= hidden; heads += tp) {
    if (hidden % heads != 0) continue;
    const double off = std::abs(static_cast<double>(hidden / heads) - kUsualHead);
    if (off < distance) {
      distance = off;
      best = heads;
    }
  }
  return best;
}

/// Vocabulary padded as Megatron-LM does (--make-vocab-size-divisible-by 128), so that every tp rank holds as much.
std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tp) {
  constexpr std::int64_t kMultiple = 128;
  const std::int64_t unit = checked_product(kMultiple, tp);
  return checked_product(ceil_div(vocabulary, unit), unit);
}

std::int64_t sequence_of(const CsvRow& row, Assumed& assumed) {
  if (const auto sequence = row.maybe_integer("seq")) return *sequence;
  if (row.text("family") != "bert") throw RowFailure("the sequence length is not stated", "");
  // Padding to 512 is left out of the computation; the mean of what remains is about 250: Krell et al., arXiv
  // 2107.02027.
  constexpr std::int64_t kMeanSequence = 256;
  assumed.emplace_back("sequence 256 (MLPerf BERT, phase 2: up to 512, padding removed)");
  return kMeanSequence;
}

TransformerModel model_of(const CsvRow& row, const Plan& plan, Assumed& assumed) {
  ModelDimensions dimensions{.layers = row.integer("layers"),
                             .hidden = row.integer("hidden"),
                             .heads = 0,
                             .kv_heads = row.maybe_integer("kv_heads").value_or(0),
                             .ffn = row.integer("ffn"),
                             .vocab = 0,
                             .positions = plan.sequence};
  if (const auto heads = row.maybe_integer("heads")) {
    dimensions.heads = *heads;
  } else {
    dimensions.heads = likely_heads(dimensions.hidden, plan.tp);
    assumed.push_back(fmt::format("{} heads", dimensions.heads));
  }
  constexpr std::int64_t kPaddedVocabulary = 50304;  // of GPT-2's 50257
  const auto vocabulary = row.maybe_integer("vocab");
  if (!vocabulary) assumed.push_back(fmt::format("vocabulary {} (GPT-2's, padded)", kPaddedVocabulary));
  dimensions.vocab = vocabulary.value_or(kPaddedVocabulary);
  // As stated where tp divides it; MLPerf's BERT pads in any case.
  if (dimensions.vocab % plan.tp != 0 || row.text("family") == "bert") {
    dimensions.vocab = padded_vocabulary(dimensions.vocab, plan.tp);
  }
  TransformerModel model = make_model(row.text("family"), row.text("model"), dimensions);
  // Attention and MLP side by side: Jiang et al. (arXiv 2402.15627), section 3.1.
  if (contains(row.text("model"), "MegaScale")) model.parallel_residual = true;
  if (row.has("gated_mlp")) model.gated_mlp = row.text("gated_mlp") == "yes";
  return model;
}

PipelineSchedule schedule_of(const CsvRow& row, std::int64_t virtual_stages) {
  const std::string text = row.text("schedule");
  // The automatic schedule with the memory of 1F1B comes out as the one made by hand, ZB-H1 (arXiv 2401.10241).
  if (text == "ZB-1p") return PipelineSchedule::zb_h1;
  if (text.starts_with("ZB")) throw RowFailure("pipeline schedule not modelled", text);
  if (contains(text, "GPipe")) return PipelineSchedule::gpipe;
  return virtual_stages > 1 ? PipelineSchedule::interleaved : PipelineSchedule::one_f_one_b;
}

Recompute recompute_of(const CsvRow& row, Assumed& assumed) {
  const std::string text = row.text("recompute");
  if (text == "full" || text == "yes") return Recompute::full;
  if (text == "none") return Recompute::none;
  if (text.starts_with("selective")) return Recompute::selective;
  // MaxText's "minimal" keeps the outputs of matmuls, its offloading and custom policies those of the projections.
  if (text == "minimal" || text == "qkv_proj_offloaded" || text == "custom") {
    assumed.push_back(fmt::format("recompute selective for '{}'", text));
    return Recompute::selective;
  }
  if (text.empty() || text == "none/selective per recipe") {
    assumed.emplace_back("no recompute");
    return Recompute::none;
  }
  if (text == "unknown") {
    assumed.emplace_back("recompute selective");
    return Recompute::selective;
  }
  throw RowFailure("unknown kind of recompute", text);
}

std::int64_t zero_stage_of(const CsvRow& row) {
  const std::string text = row.text("optimizer_sharding");
  if (text.empty() || text == "no" || text == "none") return 0;
  if (contains(text, "optimizer+gradient") || text == "SHARD_GRAD_OP" || text == "ZeRO-2") return 2;
  if (text == "FULL_SHARD" || text == "FSDP" || text == "ZeRO-3") return 3;
  if (text == "ZeRO-1" || text == "distributed optimizer") return 1;
  throw RowFailure("unknown optimizer sharding", text);
}

Attention attention_of(const CsvRow& row, Assumed& assumed) {
  const std::string text = row.text("attention_impl");
  if (text.starts_with("flash") || text.starts_with("Flash")) return Attention::flash;
  if (!text.starts_with("unfused") || contains(text, "not stated")) assumed.emplace_back("attention unfused");
  return Attention::unfused;
}

/// Layers of each stage. Zero-bubble rows say that the first and last hold one fewer.
std::vector<std::int64_t> stages_of(const CsvRow& row, std::int64_t layers, std::int64_t stages) {
  const bool light_ends = contains(row.text("notes"), "first and last stage hold one layer fewer");
  if (!light_ends || stages < 2 || (layers + 2) % stages != 0) return even_stages(layers, stages);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(stages), (layers + 2) / stages);
  --counts.front();
  --counts.back();
  return counts;
}

Plan plan_of(const CsvRow& row, Assumed& assumed) {
  Plan plan;
  plan.tp = row.maybe_integer("tp").value_or(1);
  plan.pp = row.maybe_integer("pp").value_or(1);
  plan.cp = row.maybe_integer("cp").value_or(1);
  for (const std::int64_t degree : {plan.tp, plan.pp, plan.cp}) {
    if (degree < 1) throw RowFailure("the row does not describe a sound case", "a degree is not positive");
  }
  // Shards of fully sharded data parallelism are data parallel ranks, whatever the dp column counts.
  const std::int64_t devices = row.integer("accelerators");
  const std::int64_t per_replica = checked_product(plan.tp, plan.pp, plan.cp);
  if (devices < 1 || devices % per_replica != 0) {
    throw RowFailure("the degrees do not divide the devices",
                     fmt::format("{} devices, {} a replica", devices, per_replica));
  }
  plan.dp = devices / per_replica;
  plan.global_batch = row.integer("global_batch");
  if (!row.has("micro_batch")) throw RowFailure("the microbatch is not stated", "");
  if (row.number("micro_batch") != std::floor(row.number("micro_batch"))) {
    throw RowFailure("microbatches of a part of a sequence are not modelled", row.text("micro_batch"));
  }
  plan.microbatch = row.integer("micro_batch");
  plan.sequence = sequence_of(row, assumed);
  plan.virtual_stages = row.maybe_integer("interleave_v").value_or(1);
  plan.schedule = schedule_of(row, plan.virtual_stages);
  // Megatron-LM, and DeepSpeed with it, send and wait, each tensor-parallel rank its part (arXiv 2104.04473,
  // section 4.1).
  plan.blocking_sends = plan.scattered_sends = true;
  // llm-foundry's MPT runs PyTorch operator by operator.
  if (row.text("family") == "mpt") plan.fusion = Fusion::none;
  plan.recompute = recompute_of(row, assumed);
  plan.sequence_parallel = row.text("sequence_parallel") == "yes";
  plan.zero_stage = zero_stage_of(row);
  plan.dtype = dtype_of_row(row.text("precision"));
  plan.attention = attention_of(row, assumed);
  plan.stage_layers = stages_of(row, row.integer("layers"), checked_product(plan.pp, plan.virtual_stages));
  // Megatron-LM's fused softmax takes rows four at a time: it is left aside where microbatch x heads is no multiple.
  constexpr std::int64_t kSoftmaxRows = 4;
  if (const auto heads = row.maybe_integer("heads"); heads && row.text("family") == "gpt") {
    plan.fused_softmax = checked_product(plan.microbatch, *heads / plan.tp) % kSoftmaxRows == 0;
  }
  return plan;
}

double reference_seconds(const CsvRow& row, const Plan& plan) {
  if (row.has("iteration_time_s")) return row.number("iteration_time_s");
  const double tokens = static_cast<double>(checked_product(plan.global_batch, plan.sequence));
  return tokens / (row.number("tokens_per_s_per_accel") * static_cast<double>(plan.devices()));
}

RowAnswer evaluate(const CsvRow& row, const MachineOverride& machine, const SimulationOptions* options) {
  Assumed assumed;
  Plan plan = plan_of(row, assumed);
  const TransformerModel model = model_of(row, plan, assumed);
  Cluster cluster = cluster_of_row(row.text("hardware"), row.text("network"), machine);
  if (cluster.devices() != plan.devices()) cluster = cluster.resized(plan.devices());
  if (!cluster.chip.supports(plan.dtype)) {
    throw RowFailure("data type not supported by the chip",
                     fmt::format("{} on {}", name_of(plan.dtype), cluster.chip.name));
  }
  switch_off(machine.without, plan, cluster);
  // These runs were measured, so they did fit: memory is not checked.
  Program program = build_program(model, plan);
  map_program(cluster.chip, program);
  RowAnswer answer{.machine = cluster.name, .assumed = std::move(assumed)};
  const IterationAnswer prediction = predict(cluster, program).iteration;
  const double predicted = to_seconds(prediction.time).count();
  answer.predicted_by_cause = prediction.by_cause;
  double simulated = NAN;
  if (options != nullptr) {
    const IterationAnswer simulation = simulate(cluster, program, *options).iteration;
    simulated = to_seconds(simulation.time).count();
    answer.simulated_by_cause = simulation.by_cause;
  }
  const double reference = reference_seconds(row, plan);
  answer.metrics.push_back({"iteration_time_s", predicted, simulated, reference});
  if (const auto rate = row.maybe_number("tokens_per_s_per_accel")) {
    const double tokens = static_cast<double>(checked_product(plan.global_batch, plan.sequence));
    answer.metrics.push_back(
        {"tokens_per_second", tokens / predicted, tokens / simulated, *rate * static_cast<double>(plan.devices())});
  }
  return answer;
}

}  // namespace

ReferenceKind training_kind() {
  return {"training",
          {"group", "layers", "hidden", "hardware", "accelerators", "tp", "pp", "global_batch", "iteration_time_s"},
          {"group"},
          evaluate};
}

}  // namespace tandem
