// SPDX-License-Identifier: Apache-2.0
// A transformer as a handful of dimensions, and what follows from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"

namespace tandem {

enum class Activation { gelu, relu, silu };
enum class Norm { layernorm, rmsnorm };

template <>
struct EnumNames<Activation> {
  static constexpr auto values = std::to_array<std::pair<Activation, std::string_view>>(
      {{Activation::gelu, "gelu"}, {Activation::relu, "relu"}, {Activation::silu, "silu"}});
};
template <>
struct EnumNames<Norm> {
  static constexpr auto values =
      std::to_array<std::pair<Norm, std::string_view>>({{Norm::layernorm, "layernorm"}, {Norm::rmsnorm, "rmsnorm"}});
};

struct TransformerModel {
  std::string name;
  std::string family;  ///< Hugging Face model_type: llama, gpt2, gpt_neox, opt, bert, mixtral
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ffn = 0, vocab = 0;
  std::int64_t max_positions = 0;        ///< longest sequence
  std::int64_t position_embeddings = 0;  ///< rows of a learned position table; 0: rotary or none
  std::int64_t token_types = 0;          ///< rows of BERT's segment table
  std::int64_t embedding_dim = 0;  ///< width of the token table if it differs from hidden (projected), else hidden
  Activation activation = Activation::gelu;
  Norm norm = Norm::layernorm;
  bool gated_mlp = false;  ///< gate and up projections (SwiGLU)
  bool rotary = false;
  double rotary_fraction = 1;  ///< share of a head that is rotated (GPT-NeoX: a quarter)
  bool attention_bias = false, output_bias = false, mlp_bias = false;
  bool tied_embeddings = false;    ///< head shares the token table
  bool parallel_residual = false;  ///< GPT-NeoX: attention and MLP read the same input
  bool post_norm = false;          ///< BERT: norm after the residual
  bool embedding_norm = false;     ///< BERT: norm after the embedding
  bool final_norm = true;
  bool causal = true;
  bool head_bias = false;
  bool pooler = false;                               ///< BERT: dense layer on the first token
  bool mlm_transform = false;                        ///< BERT MLM head: dense, activation, norm before the decoder
  bool nsp_head = false;                             ///< BERT next-sentence head
  std::int64_t experts = 0, experts_per_token = 0;   ///< 0: dense
  double hidden_dropout = 0, attention_dropout = 0;  ///< probabilities; 0: no dropout operator
  std::vector<std::string> unused_keys;              ///< of the config.json, for `show`

  bool operator==(const TransformerModel&) const = default;
};

struct ParameterCounts {
  std::int64_t embedding = 0;     ///< token, position and segment tables, their norm
  std::int64_t layer = 0;         ///< one transformer layer
  std::int64_t layer_active = 0;  ///< of them used by one token (experts_per_token of the experts)
  std::int64_t head = 0;          ///< final norm, head (0 for the tied matrix), pooler and the like
  std::int64_t total = 0;
  std::int64_t active = 0;
};

/// Exact integers; std::overflow_error beyond 64 bits.
ParameterCounts count_parameters(const TransformerModel& model);

/// Matmul FLOPs of one forward pass over `sequences` of `length` tokens, attention counted in full (not halved for the
/// causal mask), logits included. Source: Narayanan et al., SC'21 (arXiv 2104.04473), appendix; extended to GQA, gated
/// MLP and experts by shape.
double forward_flops(const TransformerModel& model, std::int64_t sequences, std::int64_t length);
/// One training iteration without recompute: three times forward. The numerator of MFU.
double model_flops(const TransformerModel& model, std::int64_t sequences, std::int64_t length);

/// A Hugging Face config.json (nested `text_config` too). ConfigError names missing keys and where they were looked
/// for, and for another `model_type` lists what is supported.
TransformerModel load_model(const std::filesystem::path& file);
TransformerModel parse_model(std::string_view text, const std::string& name);  ///< text that did not come from a file

/// The dimensions that tables of training runs state.
struct ModelDimensions {
  std::int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, ffn = 0, vocab = 0, positions = 0;
};
/// A model by family and dimensions, with the structure that the family is known for: gpt (GPT-2: learned positions,
/// biases, dropout 0.1, tied head), mpt (the same without biases and dropout), llama and maxtext (rotary, RMSNorm,
/// SwiGLU, untied head), palm (rotary, SwiGLU, parallel residual, no biases, tied head), bert, and the model types of
/// load_model but mixtral. kv_heads 0: as many as heads. ConfigError for any other family or impossible dimensions.
TransformerModel make_model(const std::string& family, std::string name, const ModelDimensions& dimensions);
/// A GPT-2-like decoder by dimensions, as in Megatron-LM's tables.
TransformerModel make_gpt(std::string name, std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                          std::int64_t ffn, std::int64_t vocab, std::int64_t positions);
/// The structure of a Hugging Face `model_type` without its dimensions; std::invalid_argument for an unknown one.
TransformerModel family_structure(const std::string& model_type);
std::vector<std::string> supported_model_types();

/// Share of the token table of one of `tp` devices: even if it divides, else of the vocabulary padded to a multiple of
/// 128 tp. Source: Megatron-LM, make-vocab-size-divisible-by.
std::int64_t vocabulary_share(const TransformerModel& model, std::int64_t tp);

/// What is wrong with the dimensions (a width that its heads do not divide, ...), with the numbers. Empty if fine.
std::vector<std::string> problems(const TransformerModel& model);

}  // namespace tandem
