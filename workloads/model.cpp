// SPDX-License-Identifier: Apache-2.0
#include "workloads/model.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <utility>

#include "arch/support/error.h"

namespace tandem {
namespace {

struct Attention {
  std::int64_t weights = 0, biases = 0;
};

Attention attention_parameters(const TransformerModel& model) {
  const std::int64_t query = checked_product(model.heads, model.head_dim);
  const std::int64_t key_value = checked_product(2, model.kv_heads, model.head_dim);
  Attention result{checked_product(model.hidden, 2 * query + key_value), 0};
  if (model.attention_bias) result.biases += query + key_value;
  if (model.output_bias) result.biases += model.hidden;
  return result;
}

/// Matrices of one MLP, or one expert.
std::int64_t mlp_weights(const TransformerModel& model) {
  return checked_product(model.gated_mlp ? 3 : 2, model.hidden, model.ffn);
}
std::int64_t mlp_biases(const TransformerModel& model) {
  return model.mlp_bias ? (model.gated_mlp ? 2 : 1) * model.ffn + model.hidden : 0;
}

std::int64_t norm_parameters(const TransformerModel& model) {
  return (model.norm == Norm::layernorm ? 2 : 1) * model.hidden;
}

bool projected(const TransformerModel& model) { return model.embedding_dim != model.hidden; }

std::int64_t embedding_parameters(const TransformerModel& model) {
  std::int64_t sum = checked_product(model.vocab, model.embedding_dim) +
                     checked_product(model.position_embeddings + model.token_types, model.hidden);
  if (model.embedding_norm) sum += norm_parameters(model);
  if (projected(model)) sum += checked_product(model.embedding_dim, model.hidden);
  return sum;
}

std::int64_t head_parameters(const TransformerModel& model) {
  std::int64_t sum = model.final_norm ? norm_parameters(model) : 0;
  if (!model.tied_embeddings) sum += checked_product(model.vocab, model.embedding_dim);
  if (projected(model)) sum += checked_product(model.hidden, model.embedding_dim);
  if (model.head_bias) sum += model.vocab;
  const std::int64_t dense = checked_product(model.hidden, model.hidden) + model.hidden;
  if (model.pooler) sum += dense;
  if (model.mlm_transform) sum += dense + norm_parameters(model);
  if (model.nsp_head) sum += 2 * model.hidden + 2;
  return sum;
}

std::int64_t checked_sum(std::int64_t a, std::int64_t b) { return (Bytes(a) + Bytes(b)).value(); }

}  // namespace

ParameterCounts count_parameters(const TransformerModel& model) {
  const Attention attention = attention_parameters(model);
  const std::int64_t shared = attention.weights + attention.biases + 2 * norm_parameters(model) +
                              checked_product(model.hidden, model.experts);  // the router
  const std::int64_t mlp = mlp_weights(model) + mlp_biases(model);
  ParameterCounts counts;
  counts.embedding = embedding_parameters(model);
  counts.layer = checked_sum(shared, checked_product(mlp, model.experts > 0 ? model.experts : 1));
  counts.layer_active = checked_sum(shared, checked_product(mlp, model.experts > 0 ? model.experts_per_token : 1));
  counts.head = head_parameters(model);
  const std::int64_t ends = checked_sum(counts.embedding, counts.head);
  counts.total = checked_sum(checked_product(model.layers, counts.layer), ends);
  counts.active = checked_sum(checked_product(model.layers, counts.layer_active), ends);
  return counts;
}

double forward_flops(const TransformerModel& model, std::int64_t sequences, std::int64_t length) {
  const auto real = [](std::int64_t n) { return static_cast<double>(n); };
  const double tokens = real(sequences) * real(length);
  const std::int64_t mlps = model.experts > 0 ? model.experts_per_token : 1;
  const double layer_weights = real(attention_parameters(model).weights) + real(mlps) * real(mlp_weights(model)) +
                               real(model.hidden) * real(model.experts);
  const double attention = 4.0 * real(length) * real(model.heads) * real(model.head_dim);
  double ends = 2.0 * real(model.embedding_dim) * real(model.vocab);
  if (projected(model)) ends += 4.0 * real(model.embedding_dim) * real(model.hidden);
  if (model.mlm_transform) ends += 2.0 * real(model.hidden) * real(model.hidden);
  double once = 0;  // per sequence
  if (model.pooler) once += 2.0 * real(model.hidden) * real(model.hidden);
  if (model.nsp_head) once += 4.0 * real(model.hidden);
  return tokens * (real(model.layers) * (2.0 * layer_weights + attention) + ends) + real(sequences) * once;
}

double model_flops(const TransformerModel& model, std::int64_t sequences, std::int64_t length) {
  return 3.0 * forward_flops(model, sequences, length);
}

std::int64_t vocabulary_share(const TransformerModel& model, std::int64_t tp) {
  if (model.vocab % tp == 0) return model.vocab / tp;
  return 128 * ceil_div(model.vocab, checked_product(128, tp));
}

std::vector<std::string> problems(const TransformerModel& model) {
  std::vector<std::string> found;
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"layers", model.layers},      {"hidden size", model.hidden},
      {"heads", model.heads},        {"key-value heads", model.kv_heads},
      {"head size", model.head_dim}, {"feed-forward size", model.ffn},
      {"vocabulary", model.vocab},   {"positions", model.max_positions}};
  for (const auto& [what, size] : sizes) {
    if (size < 1) found.push_back(fmt::format("{} is {}, expected a positive number", what, size));
  }
  if (!found.empty()) return found;
  if (model.kv_heads > model.heads || model.heads % model.kv_heads != 0) {
    found.push_back(fmt::format("{} heads cannot share {} key-value heads evenly", model.heads, model.kv_heads));
  }
  if (model.experts > 0 && (model.experts_per_token < 1 || model.experts_per_token > model.experts)) {
    found.push_back(fmt::format("{} experts per token of {} experts", model.experts_per_token, model.experts));
  }
  try {
    static_cast<void>(count_parameters(model));
  } catch (const std::overflow_error&) {
    found.emplace_back("the number of parameters exceeds 64 bits");
  }
  return found;
}

namespace {

TransformerModel gpt2_structure() {
  TransformerModel model;
  model.attention_bias = model.output_bias = model.mlp_bias = true;
  model.tied_embeddings = true;
  model.hidden_dropout = model.attention_dropout = 0.1;
  return model;
}

TransformerModel llama_structure() {
  TransformerModel model;
  model.norm = Norm::rmsnorm;
  model.activation = Activation::silu;
  model.gated_mlp = model.rotary = true;
  return model;
}

TransformerModel gpt_neox_structure() {
  TransformerModel model;
  model.attention_bias = model.output_bias = model.mlp_bias = true;
  model.rotary = model.parallel_residual = true;
  model.rotary_fraction = 0.25;
  return model;
}

TransformerModel opt_structure() {
  TransformerModel model = gpt2_structure();
  model.activation = Activation::relu;
  model.attention_dropout = 0;
  return model;
}

TransformerModel bert_structure() {
  TransformerModel model = gpt2_structure();
  model.post_norm = model.embedding_norm = true;
  model.final_norm = model.causal = false;
  model.head_bias = model.pooler = model.mlm_transform = model.nsp_head = true;
  return model;
}

/// Families that tables of training runs name, beside the Hugging Face types.
TransformerModel table_structure(const std::string& family) {
  if (family == "gpt") return family_structure("gpt2");
  if (family == "maxtext") return family_structure("llama");
  if (family == "mpt") {
    TransformerModel model = family_structure("gpt2");
    model.attention_bias = model.output_bias = model.mlp_bias = false;
    model.hidden_dropout = model.attention_dropout = 0;
    return model;
  }
  if (family == "palm") {
    TransformerModel model = family_structure("llama");
    model.norm = Norm::layernorm;
    model.parallel_residual = model.tied_embeddings = true;
    return model;
  }
  if (family == "mixtral") throw std::invalid_argument("mixtral needs its numbers of experts");
  return family_structure(family);
}

}  // namespace

std::vector<std::string> supported_model_types() { return {"llama", "gpt2", "gpt_neox", "opt", "bert", "mixtral"}; }

TransformerModel family_structure(const std::string& model_type) {
  TransformerModel model;
  if (model_type == "llama" || model_type == "mixtral") {
    model = llama_structure();
  } else if (model_type == "gpt2") {
    model = gpt2_structure();
  } else if (model_type == "gpt_neox") {
    model = gpt_neox_structure();
  } else if (model_type == "opt") {
    model = opt_structure();
  } else if (model_type == "bert") {
    model = bert_structure();
  } else {
    throw std::invalid_argument(fmt::format("model type '{}' is not supported", model_type));
  }
  model.family = model_type;
  return model;
}

TransformerModel make_model(const std::string& family, std::string name, const ModelDimensions& dimensions) {
  TransformerModel model;
  try {
    model = table_structure(family);
  } catch (const std::invalid_argument&) {
    throw ConfigError(
        fmt::format("{}: model family '{}' is not supported by dimensions; expected gpt, mpt, maxtext, "
                    "palm, {}",
                    name, family, fmt::join(supported_model_types(), ", ")));
  }
  model.name = std::move(name);
  model.layers = dimensions.layers;
  model.hidden = model.embedding_dim = dimensions.hidden;
  model.heads = dimensions.heads;
  model.kv_heads = dimensions.kv_heads > 0 ? dimensions.kv_heads : dimensions.heads;
  model.head_dim = dimensions.heads > 0 ? dimensions.hidden / dimensions.heads : 0;
  model.ffn = dimensions.ffn;
  model.vocab = dimensions.vocab;
  model.max_positions = dimensions.positions;
  model.position_embeddings = model.rotary ? 0 : dimensions.positions;
  model.token_types = model.family == "bert" ? 2 : 0;
  std::vector<std::string> found = problems(model);
  if (found.empty() && dimensions.hidden % dimensions.heads != 0) {
    found.push_back(fmt::format("{} heads do not divide hidden size {}", dimensions.heads, dimensions.hidden));
  }
  if (!found.empty()) throw ConfigError(fmt::format("{}: {}", model.name, fmt::join(found, "; ")));
  return model;
}

TransformerModel make_gpt(std::string name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                          std::int64_t ffn, std::int64_t vocab, std::int64_t positions) {
  return make_model("gpt", std::move(name), {layers, hidden, heads, heads, ffn, vocab, positions});
}

}  // namespace tandem
