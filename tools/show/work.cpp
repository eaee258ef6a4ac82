// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "arch/support/error.h"
#include "arch/support/units.h"
#include "search/plan_json.h"
#include "tools/answer_json.h"
#include "tools/scenario.h"
#include "tools/show/show.h"
#include "tools/text_table.h"
#include "workloads/memory.h"
#include "workloads/pipeline.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

/// 6738415616 as "6,738,415,616".
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string shape_text(const TransformerModel& model) {
  std::string text =
      fmt::format("{} layers of width {}, {} heads of {}", model.layers, model.hidden, model.heads, model.head_dim);
  if (model.kv_heads != model.heads) text += fmt::format(" ({} for keys and values)", model.kv_heads);
  text += fmt::format(", FFN {}{} {}", model.ffn, model.gated_mlp ? " gated" : "", name_of(model.activation));
  if (model.experts > 0) text += fmt::format(", {} experts ({} a token)", model.experts, model.experts_per_token);
  text += fmt::format(", vocabulary {}, {}, sequences up to {}", model.vocab, name_of(model.norm), model.max_positions);
  return text + (model.causal ? ", causal" : ", bidirectional") + (model.tied_embeddings ? ", tied embeddings" : "");
}

std::string memory_of_stages(const std::vector<MemoryFootprint>& stages) {
  TextTable table({"stage", "parameters", "gradients", "optimizer", "stash", "workspace", "total"});
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const MemoryFootprint& m = stages[s];
    table.add({std::to_string(s), to_text(m.parameters), to_text(m.gradients), to_text(m.optimizer), to_text(m.stash),
               to_text(m.workspace), to_text(m.total())});
  }
  return table.text();
}

/// FLOPs of one token at the model's longest sequence.
struct TokenFlops {
  double forward = 0, training = 0;
};
TokenFlops flops_per_token(const TransformerModel& model, std::int64_t length) {
  const double tokens = static_cast<double>(length);
  return {forward_flops(model, 1, length) / tokens, model_flops(model, 1, length) / tokens};
}

}  // namespace

Shown show_model(const TransformerModel& model, const Plan& plan) {
  const ParameterCounts counts = count_parameters(model);
  const TokenFlops flops = flops_per_token(model, plan.sequence);
  const std::vector<MemoryFootprint> memory = memory_footprint(model, plan);
  std::string text = fmt::format("model {} ({})\n\n{}\n\n", model.name, model.family, shape_text(model));
  TextTable parameters({"parameters", "", "share"});
  const auto add = [&](const std::string& name, std::int64_t count) {
    parameters.add({name, grouped(count), percent(static_cast<double>(count) / static_cast<double>(counts.total))});
  };
  add("embedding", counts.embedding);
  add(fmt::format("{} layers", model.layers), counts.total - counts.embedding - counts.head);
  add("head", counts.head);
  add("total", counts.total);
  if (counts.active != counts.total) add("used by one token", counts.active);
  text += parameters.text();
  text +=
      fmt::format("\nmatmul work at {} tokens: {:.4g} FLOP a token forward, {:.4g} in training ({:.3g} a sequence)\n",
                  plan.sequence, flops.forward, flops.training, flops.training * static_cast<double>(plan.sequence));
  text += fmt::format("\nmemory of a device with {}\n", plan_summary(plan)) + memory_of_stages(memory);
  text += "  (--tp, --pp, --mbs, --recompute ... show it under another plan)\n";
  if (!model.unused_keys.empty()) {
    text += fmt::format("\nkeys of the file without effect: {}\n", fmt::join(model.unused_keys, ", "));
  }
  Json json{{"kind", "model"},
            {"name", model.name},
            {"family", model.family},
            {"parameters",
             {{"embedding", counts.embedding},
              {"layer", counts.layer},
              {"head", counts.head},
              {"total", counts.total},
              {"active", counts.active}}},
            {"forward_flops_per_token", flops.forward},
            {"training_flops_per_token", flops.training},
            {"plan", plan_json(plan)},
            {"memory_bytes", Json::array()},
            {"unused_keys", model.unused_keys}};
  for (const MemoryFootprint& stage : memory) json["memory_bytes"].push_back(to_json(stage));
  return {text, text_of(json)};
}

namespace {

Shown plan_view(const Plan& plan) {
  const std::int64_t microbatches = plan.microbatches();
  const double bubble = bubble_fraction(plan.schedule, plan.pp, microbatches, plan.virtual_stages);
  std::string text = fmt::format("plan for {} devices\n\n{}\n\n", plan.devices(), plan_summary(plan));
  text += fmt::format("{} microbatches a pipeline, {} tokens an iteration, ideal bubble {} of the useful time\n\n",
                      microbatches, grouped(checked_product(plan.global_batch, plan.sequence)), percent(bubble));
  TextTable table({"stage", "layers", "devices", "microbatches in flight"});
  const std::int64_t per_stage = plan.devices() / plan.pp;
  for (std::int64_t stage = 0; stage < plan.pp; ++stage) {
    std::vector<std::int64_t> layers;
    for (auto v = static_cast<std::size_t>(stage); v < plan.stage_layers.size();
         v += static_cast<std::size_t>(plan.pp)) {
      layers.push_back(plan.stage_layers[v]);
    }
    table.add({std::to_string(stage), fmt::format("{}", fmt::join(layers, "+")),
               fmt::format("{}-{}", stage * per_stage, (stage + 1) * per_stage - 1),
               std::to_string(in_flight(plan.schedule, plan.pp, stage, microbatches, plan.virtual_stages))});
  }
  text += table.text();
  const Json json{{"kind", "plan"},
                  {"devices", plan.devices()},
                  {"microbatches", microbatches},
                  {"ideal_bubble", bubble},
                  {"plan", plan_json(plan)}};
  return {text, text_of(json)};
}

}  // namespace

Shown show_plan(const Plan& plan) {
  try {
    return plan_view(plan);
  } catch (const std::invalid_argument& error) {
    throw ConfigError(std::string("the plan cannot run: ") + error.what());
  }
}

}  // namespace tandem
