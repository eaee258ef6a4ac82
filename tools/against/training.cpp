// SPDX-License-Identifier: Apache-2.0
// Measured training iterations with their whole configuration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "search/mapper.h"
#include "search/predict.h"
#include "sim/simulate.h"
#include "tools/against/machines.h"
#include "workloads/program.h"

namespace tandem {
namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

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

std::int64_t sequence_of(const CsvRow& row) {
  if (const auto sequence = row.maybe_integer("seq")) return *sequence;
  // MLPerf BERT, phase 2: packed to 512 tokens.
  if (row.text("family") == "bert") return 512;
  throw RowFailure("the sequence length is not stated", "");
}

TransformerModel llama_like(TransformerModel model, const CsvRow& row) {
  model.family = "llama";
  model.kv_heads = row.maybe_integer("kv_heads").value_or(model.heads);
  model.position_embeddings = 0;
  model.activation = Activation::silu;
  model.norm = Norm::rmsnorm;
  model.gated_mlp = row.text("gated_mlp") == "yes";
  model.rotary = true;
  model.attention_bias = model.output_bias = model.mlp_bias = false;
  model.tied_embeddings = false;
  return model;
}

TransformerModel model_of(const CsvRow& row, const Plan& plan) {
  const std::int64_t hidden = row.integer("hidden");
  const std::int64_t heads = row.maybe_integer("heads").value_or(likely_heads(hidden, plan.tp));
  constexpr std::int64_t kGpt2Vocabulary = 50257;
  const std::int64_t vocabulary = padded_vocabulary(row.maybe_integer("vocab").value_or(kGpt2Vocabulary), plan.tp);
  TransformerModel model =
      make_gpt(row.text("model"), row.integer("layers"), hidden, heads, row.integer("ffn"), vocabulary, plan.sequence);
  const std::string family = row.text("family");
  if (family == "llama" || family == "maxtext") return llama_like(std::move(model), row);
  if (family == "palm") {
    model = llama_like(std::move(model), row);
    model.parallel_residual = true;
    model.tied_embeddings = true;
    constexpr std::int64_t kPalmHead = 256;  // PaLM (arXiv 2204.02311), section 3
    model.head_dim = kPalmHead;
  } else if (family == "mpt") {
    // MPT: ALiBi in place of positions, no biases (MosaicML llm-foundry).
    model.position_embeddings = 0;
    model.attention_bias = model.output_bias = model.mlp_bias = false;
  } else if (family == "bert") {
    model.causal = false;
  } else if (family != "gpt") {
    throw RowFailure("unknown model family", family);
  }
  return model;
}

PipelineSchedule schedule_of(const CsvRow& row, std::int64_t virtual_stages) {
  const std::string text = row.text("schedule");
  if (text.starts_with("ZB")) throw RowFailure("pipeline schedule not modelled", text);
  if (contains(text, "GPipe")) return PipelineSchedule::gpipe;
  return virtual_stages > 1 ? PipelineSchedule::interleaved : PipelineSchedule::one_f_one_b;
}

Recompute recompute_of(const CsvRow& row) {
  const std::string text = row.text("recompute");
  if (text == "full" || text == "yes") return Recompute::full;
  // MaxText's "minimal" keeps the outputs of matmuls; "unknown" rows are of systems whose papers say selective.
  if (text.starts_with("selective") || text == "minimal" || text == "qkv_proj_offloaded" || text == "custom" ||
      text == "unknown") {
    return Recompute::selective;
  }
  return Recompute::none;
}

std::int64_t zero_stage_of(const CsvRow& row) {
  const std::string text = row.text("optimizer_sharding");
  if (contains(text, "optimizer+gradient") || text == "SHARD_GRAD_OP") return 2;
  if (text == "FULL_SHARD" || text == "FSDP" || text == "ZeRO-3") return 3;
  if (text == "ZeRO-1" || text == "distributed optimizer") return 1;
  return 0;
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

Plan plan_of(const CsvRow& row) {
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
  plan.sequence = sequence_of(row);
  plan.virtual_stages = row.maybe_integer("interleave_v").value_or(1);
  plan.schedule = schedule_of(row, plan.virtual_stages);
  plan.recompute = recompute_of(row);
  plan.sequence_parallel = row.text("sequence_parallel") == "yes";
  plan.zero_stage = zero_stage_of(row);
  plan.dtype = dtype_of_row(row.text("precision"));
  const std::string attention = row.text("attention_impl");
  const bool flash = attention.starts_with("flash") || attention.starts_with("Flash");
  plan.attention = flash ? Attention::flash : Attention::unfused;
  plan.stage_layers = stages_of(row, row.integer("layers"), checked_product(plan.pp, plan.virtual_stages));
  return plan;
}

double reference_seconds(const CsvRow& row, const Plan& plan) {
  if (row.has("iteration_time_s")) return row.number("iteration_time_s");
  const double tokens = static_cast<double>(checked_product(plan.global_batch, plan.sequence));
  return tokens / (row.number("tokens_per_s_per_accel") * static_cast<double>(plan.devices()));
}

RowAnswer evaluate(const CsvRow& row, const MachineOverride& machine, const SimulationOptions& options) {
  const Plan plan = plan_of(row);
  const TransformerModel model = model_of(row, plan);
  Cluster cluster = cluster_of_row(row.text("hardware"), row.text("network"), machine);
  if (cluster.devices() != plan.devices()) cluster = cluster.resized(plan.devices());
  if (!cluster.chip.supports(plan.dtype)) {
    throw RowFailure("data type not supported by the chip",
                     fmt::format("{} on {}", name_of(plan.dtype), cluster.chip.name));
  }
  // These runs were measured, so they did fit: memory is not checked.
  Program program = build_program(model, plan);
  map_program(cluster.chip, program);
  const double predicted = to_seconds(predict(cluster, program).iteration.time).count();
  const double simulated = to_seconds(simulate(cluster, program, options).iteration.time).count();
  const double reference = reference_seconds(row, plan);
  std::vector<RowMetric> metrics{{"iteration_time_s", predicted, simulated, reference}};
  if (const auto rate = row.maybe_number("tokens_per_s_per_accel")) {
    const double tokens = static_cast<double>(checked_product(plan.global_batch, plan.sequence));
    metrics.push_back(
        {"tokens_per_second", tokens / predicted, tokens / simulated, *rate * static_cast<double>(plan.devices())});
  }
  return {cluster.name, std::move(metrics)};
}

}  // namespace

ReferenceKind training_kind() {
  return {"training",
          {"group", "layers", "hidden", "hardware", "accelerators", "tp", "pp", "global_batch", "iteration_time_s"},
          {"group"},
          evaluate};
}

}  // namespace tandem
