// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/config_texts.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/config.h"
#include "arch/support/hash.h"

namespace tandem {

std::string model_text(const TransformerModel& model) {
  std::string text;
  const auto line = [&text](std::string_view name, const auto& value) { text += fmt::format("{}: {}\n", name, value); };
  line("name", model.name);
  line("family", model.family);
  line("layers", model.layers);
  line("hidden", model.hidden);
  line("heads", model.heads);
  line("kv_heads", model.kv_heads);
  line("head_dim", model.head_dim);
  line("ffn", model.ffn);
  line("vocab", model.vocab);
  line("max_positions", model.max_positions);
  line("position_embeddings", model.position_embeddings);
  line("token_types", model.token_types);
  line("embedding_dim", model.embedding_dim);
  line("activation", name_of(model.activation));
  line("norm", name_of(model.norm));
  line("gated_mlp", model.gated_mlp);
  line("rotary", model.rotary);
  line("rotary_fraction", model.rotary_fraction);
  line("attention_bias", model.attention_bias);
  line("output_bias", model.output_bias);
  line("mlp_bias", model.mlp_bias);
  line("tied_embeddings", model.tied_embeddings);
  line("parallel_residual", model.parallel_residual);
  line("post_norm", model.post_norm);
  line("embedding_norm", model.embedding_norm);
  line("final_norm", model.final_norm);
  line("causal", model.causal);
  line("head_bias", model.head_bias);
  line("pooler", model.pooler);
  line("mlm_transform", model.mlm_transform);
  line("nsp_head", model.nsp_head);
  line("experts", model.experts);
  line("experts_per_token", model.experts_per_token);
  line("hidden_dropout", model.hidden_dropout);
  line("attention_dropout", model.attention_dropout);
  return text;
}

std::vector<std::string> modelling_assumptions(const Cluster& cluster) {
  std::vector<std::string> list{
      "tensor-parallel ranks of one pipeline position run in lock step",
      "a point-to-point send does not occupy the compute of sender or receiver",
      "chunks cut through links and switches; switches are non-blocking and queues are unbounded",
      "a member begins a collective's step when its part of the step before has arrived",
      "gradient exchange and optimizer begin when the device's own last backward has ended",
      "slices are simulated from an idle chip; slices of one device do not overlap",
      "activations held grow at the end of a forward and shrink at the end of a backward",
  };
  const bool reduces = std::any_of(cluster.levels.begin(), cluster.levels.end(),
                                   [](const Level& level) { return level.in_network_reduction; });
  if (reduces) list.emplace_back("reduction inside the network is not used");
  return list;
}

std::vector<ConfigText> config_texts(const Cluster& cluster, const Program& program) {
  std::string assumptions;
  for (const std::string& assumption : modelling_assumptions(cluster)) assumptions += assumption + "\n";
  std::vector<ConfigText> texts{{"chip", to_yaml(cluster.chip), ""},
                                {"cluster", to_yaml(cluster), ""},
                                {"model", model_text(program.model), ""},
                                {"plan", to_yaml(program.plan), ""},
                                {"assumptions", std::move(assumptions), ""}};
  for (ConfigText& config : texts) config.hash = hash_text(config.text);
  return texts;
}

}  // namespace tandem
