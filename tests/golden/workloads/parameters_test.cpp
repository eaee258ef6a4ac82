// SPDX-License-Identifier: Apache-2.0
// Published parameter counts and per-layer figures of the shipped models.
#include <gtest/gtest.h>

#include <string>

#include "workloads/model.h"

namespace tandem {
namespace {

TransformerModel shipped(const std::string& name) {
  return load_model(std::string(TANDEM_SOURCE_DIR) + "/configs/model/" + name + ".json");
}

struct Published {
  const char* model;
  std::int64_t parameters;
};

class Parameters : public testing::TestWithParam<Published> {};

TEST_P(Parameters, EqualThePublishedCount) {
  EXPECT_EQ(count_parameters(shipped(GetParam().model)).total, GetParam().parameters);
}

// Sources: the safetensors metadata of the Hugging Face model pages ("total parameters" of the checkpoint):
// meta-llama/Llama-2-7b-hf, meta-llama/Meta-Llama-3-70B, mistralai/Mixtral-8x7B-v0.1; transformers'
// num_parameters() of gpt2-xl (the tied head once) and facebook/opt-1.3b.
// GPT-3 175B is published rounded (Brown et al., arXiv 2005.14165, table 2.1): 96 layers of 12 h^2 + 13 h, token table
// (50257 rows, tied with the head), 2048 positions, final norm.
// BERT-large is published as 340M (Devlin et al., arXiv 1810.04805): here transformers' BertForPreTraining, that is
// encoder and pooler (335,141,888), MLM transform and decoder bias, next-sentence head; the decoder matrix is tied.
// Megatron 8.3B: Shoeybi et al. (arXiv 1909.08053), table 2, published as 8.3 billion; vocabulary padded to 51200, 1024
// positions.
INSTANTIATE_TEST_SUITE_P(Shipped, Parameters,
                         testing::Values(Published{"llama2-7b", 6'738'415'616}, Published{"llama3-70b", 70'553'706'496},
                                         Published{"gpt2-xl", 1'557'611'200}, Published{"opt-1.3b", 1'315'758'080},
                                         Published{"mixtral-8x7b", 46'702'792'704},
                                         Published{"gpt3-175b", 174'604'259'328}, Published{"bert-large", 336'226'108},
                                         Published{"megatron-8.3b", 8'317'040'640}));

TEST(Parameters, ActiveShareOfMixtral) {
  // Jiang et al. (arXiv 2401.04088): "each token has access to 47B parameters, but only uses 13B".
  EXPECT_EQ(count_parameters(shipped("mixtral-8x7b")).active, 12'879'925'248);
}

TEST(Parameters, LayersAsTheNestArtifactTracesThem) {
  // NEST (MLSys 2026, arXiv 2603.06798), public layer graphs without their traced-in heads. Its graphs are wrong, and
  // these counts differ from them, for Mixtral (both local experts share one weight) and BERT at t > 1 (unsharded).
  EXPECT_EQ(count_parameters(shipped("llama2-7b")).layer, 202'383'360);
  EXPECT_EQ(count_parameters(shipped("llama3-70b")).layer, 855'654'400);
  EXPECT_EQ(count_parameters(shipped("bert-large")).layer, 12'596'224);
}

TEST(Flops, LayerForwardAsTheNestArtifactTracesIt) {
  // The same graphs: forward matmul FLOPs of one layer, attention in full.
  const auto layer = [](const TransformerModel& model, std::int64_t length) {
    TransformerModel none = model;
    none.layers = 0;
    return (forward_flops(model, 1, length) - forward_flops(none, 1, length)) / static_cast<double>(model.layers);
  };
  EXPECT_EQ(layer(shipped("llama2-7b"), 4096), 1'932'735'283'200.0);
  EXPECT_EQ(layer(shipped("llama3-70b"), 4096), 7'559'142'440'960.0);
  EXPECT_EQ(layer(shipped("bert-large"), 512), 13'958'643'712.0);
  EXPECT_EQ(layer(shipped("gpt3-175b"), 2048) / 8, 953'482'739'712.0);
}

TEST(Flops, Sc21Formula) {
  // Narayanan et al. (arXiv 2104.04473), appendix: 96 B s l h^2 (1 + s / 6h + V / 16 l h) with activation recompute;
  // without it three quarters of the layers' part.
  const TransformerModel model = make_gpt("gpt", 96, 12288, 96, 4 * 12288, 51200, 2048);
  const double b = 3, s = 2048, l = 96, h = 12288, v = 51200;
  const double expected = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
  EXPECT_NEAR(model_flops(model, 3, 2048) / expected, 1, 1e-12);
}

TEST(Parameters, OtherPublishedCounts) {
  // facebook/opt-350m (projected embedding, norm after the residual): transformers' num_parameters().
  TransformerModel opt = family_structure("opt");
  opt.layers = 24;
  opt.hidden = 1024;
  opt.embedding_dim = 512;
  opt.heads = opt.kv_heads = 16;
  opt.head_dim = 64;
  opt.ffn = 4096;
  opt.vocab = 50272;
  opt.max_positions = 2048;
  opt.position_embeddings = 2050;
  opt.post_norm = true;
  opt.final_norm = false;
  EXPECT_EQ(count_parameters(opt).total, 331'196'416);
  // GPT-NeoX-20B: the model card of EleutherAI/gpt-neox-20b (n_parameters 20554567680).
  const ModelDimensions neox{44, 6144, 64, 64, 24576, 50432, 2048};
  EXPECT_EQ(count_parameters(make_model("gpt_neox", "neox", neox)).total, 20'554'567'680);
  // GPT-2 (124M): transformers' num_parameters() of gpt2.
  EXPECT_EQ(count_parameters(make_gpt("gpt2", 12, 768, 12, 3072, 50257, 1024)).total, 124'439'808);
}

}  // namespace
}  // namespace tandem
