// SPDX-License-Identifier: Apache-2.0
// Hugging Face config.json to TransformerModel. Dimensions must stand in the file; switches that transformers leaves
// out when they have their class's default take that default.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "arch/support/config_reader.h"
#include "workloads/model.h"

namespace tandem {
namespace {

using Names = std::initializer_list<std::string_view>;

constexpr double kLargest = 1 << 30;
constexpr double kMostLayers = 100'000;

/// Sections that multimodal configs keep the language model in.
constexpr std::string_view kTextSections[] = {"text_config", "llm_config", "language_config"};

/// Looks a value up under several names, first in the nested text section, then at the top.
class Lookup {
 public:
  explicit Lookup(ConfigFile& file) {
    const ConfigSection root = file.root();
    for (const std::string_view name : kTextSections) {
      if (!root.has(name)) continue;
      const ConfigSection nested = root.optional_section(name);
      if (nested.present()) places_.push_back(nested);
    }
    places_.push_back(root);
  }

  [[nodiscard]] const ConfigSection& first() const { return places_.front(); }

  template <typename T>
  [[nodiscard]] std::optional<T> maybe(Names names, const Check& check = any_value) const {
    std::optional<T> found;
    for (const ConfigSection& place : places_) {
      for (const std::string_view name : names) {
        if (!has_value(place, name)) continue;
        // Further aliases are read too, so that they count as used.
        std::optional<T> value = place.maybe<T>(name, check);
        if (!found) found = std::move(value);
      }
    }
    return found;
  }

  template <typename T>
  [[nodiscard]] T get_or(Names names, T fallback, const Check& check = any_value) const {
    return maybe<T>(names, check).value_or(std::move(fallback));
  }

  /// A dimension: it must stand somewhere, under one of the names, and is never guessed.
  [[nodiscard]] std::int64_t size(Names names, double largest = kLargest) const {
    if (const auto found = maybe<std::int64_t>(names, between(1, largest))) return *found;
    if (!stands_somewhere(names)) {
      first().complain(*names.begin(), fmt::format("missing; looked for {}", looked_for(names)), "a whole number");
    }
    return 0;
  }

 private:
  static bool has_value(const ConfigSection& place, std::string_view name) {
    const ConfigNode* node = place.has(name) ? place.node(name) : nullptr;
    return node != nullptr && node->kind != ConfigNode::Kind::null;
  }

  [[nodiscard]] bool stands_somewhere(Names names) const {
    return std::any_of(places_.begin(), places_.end(), [&](const ConfigSection& place) {
      return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return has_value(place, name); });
    });
  }

  [[nodiscard]] std::string looked_for(Names names) const {
    std::vector<std::string> all;
    for (const ConfigSection& place : places_) {
      for (const std::string_view name : names) {
        all.push_back(place.path().empty() ? std::string(name) : fmt::format("{}.{}", place.path(), name));
      }
    }
    return fmt::format("{}", fmt::join(all, ", "));
  }

  std::vector<ConfigSection> places_;
};

void read_dimensions(const Lookup& in, TransformerModel& model) {
  model.layers = in.size({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, kMostLayers);
  model.hidden = in.size({"hidden_size", "n_embd", "d_model"});
  model.heads = in.size({"num_attention_heads", "n_head", "n_heads"});
  model.vocab = in.size({"vocab_size"});
  model.max_positions = in.size({"max_position_embeddings", "n_positions", "n_ctx", "seq_length"});
  if (model.family == "gpt2") {
    // transformers: n_inner null means four times the width.
    const auto inner = in.maybe<std::int64_t>({"n_inner", "intermediate_size", "ffn_dim"}, between(1, kLargest));
    model.ffn = inner.value_or(4 * model.hidden);
  } else {
    model.ffn = in.size({"intermediate_size", "ffn_dim", "n_inner"});
  }
}

void read_heads(const Lookup& in, TransformerModel& model) {
  const Names kv_names = {"num_key_value_heads", "num_kv_heads", "n_head_kv"};
  // Mixtral's class has a default of its own (8), which a reader would not guess: there the key must be present.
  model.kv_heads = model.family == "mixtral"
                       ? in.size(kv_names)
                       : in.maybe<std::int64_t>(kv_names, between(1, kLargest)).value_or(model.heads);
  if (const auto head_dim = in.maybe<std::int64_t>({"head_dim"}, between(1, kLargest))) {
    model.head_dim = *head_dim;
  } else if (model.heads > 0 && model.hidden > 0) {
    model.head_dim = model.hidden / model.heads;
    if (model.hidden % model.heads != 0) {
      in.first().complain("num_attention_heads",
                          fmt::format("{} heads do not divide hidden size {}", model.heads, model.hidden),
                          "a divisor of the hidden size, or a head_dim");
    }
  }
}

void read_activation(const Lookup& in, TransformerModel& model) {
  const std::string fallback(name_of(model.activation));
  const auto name = in.get_or<std::string>({"hidden_act", "activation_function"}, fallback);
  if (name.starts_with("gelu")) {
    model.activation = Activation::gelu;
  } else if (name == "relu") {
    model.activation = Activation::relu;
  } else if (name == "silu" || name == "swish") {
    model.activation = Activation::silu;
  } else {
    in.first().complain("hidden_act", fmt::format("unknown activation '{}'", name), "gelu, gelu_new, relu, silu");
    return;
  }
  if (model.gated_mlp != (model.activation == Activation::silu)) {
    in.first().complain("hidden_act", fmt::format("activation '{}' in a {} is not supported", name, model.family),
                        model.gated_mlp ? "silu" : "gelu or relu");
  }
}

void read_llama(const Lookup& in, TransformerModel& model) {
  model.attention_bias = model.output_bias = in.get_or({"attention_bias"}, false);
  model.mlp_bias = in.get_or({"mlp_bias"}, false);
  model.attention_dropout = in.get_or({"attention_dropout"}, 0.0, between(0, 1));
}

void read_gpt2(const Lookup& in, TransformerModel& model) {
  model.position_embeddings = model.max_positions;
  model.hidden_dropout = in.get_or({"resid_pdrop"}, 0.1, between(0, 1));
  model.attention_dropout = in.get_or({"attn_pdrop"}, 0.1, between(0, 1));
}

void read_gpt_neox(const Lookup& in, TransformerModel& model) {
  model.attention_bias = model.output_bias = in.get_or({"attention_bias"}, true);
  model.parallel_residual = in.get_or({"use_parallel_residual"}, true);
  model.rotary_fraction = in.get_or({"rotary_pct"}, 0.25, between(0, 1));
  model.hidden_dropout = in.get_or({"hidden_dropout"}, 0.0, between(0, 1));
  model.attention_dropout = in.get_or({"attention_dropout"}, 0.0, between(0, 1));
}

void read_opt(const Lookup& in, TransformerModel& model) {
  // OPTLearnedPositionalEmbedding keeps two rows more than there are positions.
  model.position_embeddings = model.max_positions + 2;
  model.embedding_dim = in.get_or({"word_embed_proj_dim"}, model.hidden, between(1, kLargest));
  model.attention_bias = model.output_bias = model.mlp_bias = in.get_or({"enable_bias"}, true);
  model.post_norm = !in.get_or({"do_layer_norm_before"}, true);
  model.final_norm = !model.post_norm && !in.get_or({"_remove_final_layer_norm"}, false);
  model.hidden_dropout = in.get_or({"dropout"}, 0.1, between(0, 1));
  model.attention_dropout = in.get_or({"attention_dropout"}, 0.0, between(0, 1));
}

void read_bert(const Lookup& in, TransformerModel& model) {
  model.position_embeddings = model.max_positions;
  model.token_types = in.size({"type_vocab_size"});
  model.hidden_dropout = in.get_or({"hidden_dropout_prob"}, 0.1, between(0, 1));
  model.attention_dropout = in.get_or({"attention_probs_dropout_prob"}, 0.1, between(0, 1));
}

void read_mixtral(const Lookup& in, TransformerModel& model) {
  model.experts = in.size({"num_local_experts", "num_experts"});
  model.experts_per_token = in.size({"num_experts_per_tok", "num_experts_per_token"});
  model.attention_dropout = in.get_or({"attention_dropout"}, 0.0, between(0, 1));
}

void read_family(const Lookup& in, TransformerModel& model) {
  if (model.family == "llama") read_llama(in, model);
  if (model.family == "gpt2") read_gpt2(in, model);
  if (model.family == "gpt_neox") read_gpt_neox(in, model);
  if (model.family == "opt") read_opt(in, model);
  if (model.family == "bert") read_bert(in, model);
  if (model.family == "mixtral") read_mixtral(in, model);
}

/// Reads model_type; an unsupported one ends the reading, as nothing else in the file can be judged.
std::string read_family_name(ConfigFile& file, const Lookup& in) {
  const auto type = in.maybe<std::string>({"model_type"});
  const std::vector<std::string> supported = supported_model_types();
  if (type && std::find(supported.begin(), supported.end(), *type) != supported.end()) return *type;
  in.first().complain("model_type", type ? fmt::format("model type '{}' is not supported", *type) : "missing",
                      fmt::format("one of {}", fmt::join(supported, ", ")));
  file.finish_allowing_unknown();
  throw ConfigError(fmt::format("{}: model_type: not supported", file.name()));
}

std::string model_name(const std::filesystem::path& file) {
  // A checkpoint's folder holds a plain "config.json": then the folder is the name.
  const bool plain = file.stem() == "config" && file.has_parent_path();
  return plain ? std::filesystem::absolute(file).parent_path().filename().string() : file.stem().string();
}

TransformerModel read_model(ConfigFile& file, std::string name) {
  const Lookup in(file);
  TransformerModel model = family_structure(read_family_name(file, in));
  model.name = std::move(name);
  read_dimensions(in, model);
  read_heads(in, model);
  read_activation(in, model);
  model.embedding_dim = model.hidden;
  model.tied_embeddings = in.get_or({"tie_word_embeddings"}, model.tied_embeddings);
  read_family(in, model);
  model.unused_keys = file.finish_allowing_unknown();
  const std::vector<std::string> found = problems(model);
  if (!found.empty()) throw ConfigError(fmt::format("{}: {}", file.name(), fmt::join(found, "; ")));
  return model;
}

}  // namespace

TransformerModel load_model(const std::filesystem::path& path) {
  ConfigFile file(path);
  return read_model(file, model_name(path));
}

TransformerModel parse_model(std::string_view text, const std::string& name) {
  ConfigFile file(parse_json(text, name), name);
  return read_model(file, name);
}

}  // namespace tandem
