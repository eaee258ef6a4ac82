// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "arch/support/error.h"
#include "workloads/model.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class HuggingFace : public testing::Test {
 protected:
  TransformerModel load(const std::string& text) {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() / (std::string("tandem_model_") + info->name() + ".json");
    std::ofstream(path_) << text;
    return load_model(path_);
  }
  std::string complaint(const std::string& text) {
    try {
      load(text);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }
  void TearDown() override { std::filesystem::remove(path_); }

 private:
  std::filesystem::path path_;
};

constexpr auto kLlama = R"({"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4,
  "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1000, "max_position_embeddings": 128)";

TEST_F(HuggingFace, LlamaDefaultsOfItsClass) {
  const TransformerModel model = load(std::string(kLlama) + R"(, "rope_theta": 1e4, "torch_dtype": "bfloat16"})");
  EXPECT_EQ(model.kv_heads, 8) << "missing num_key_value_heads means as many as heads";
  EXPECT_EQ(model.head_dim, 64);
  EXPECT_TRUE(model.gated_mlp);
  EXPECT_TRUE(model.rotary);
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(model.norm, Norm::rmsnorm);
  EXPECT_THAT(model.unused_keys, testing::ElementsAre("rope_theta", "torch_dtype"));
}

TEST_F(HuggingFace, HeadDimMayDifferFromTheQuotient) {
  EXPECT_EQ(load(std::string(kLlama) + R"(, "head_dim": 128, "num_key_value_heads": 2})").head_dim, 128);
}

TEST_F(HuggingFace, OldNamesOfGpt2) {
  const TransformerModel model = load(R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
    "n_positions": 1024, "n_ctx": 1024, "n_inner": null, "vocab_size": 50257})");
  EXPECT_EQ(model.ffn, 3072);
  EXPECT_EQ(count_parameters(model).total, 124'439'808);
  EXPECT_EQ(model.position_embeddings, 1024);
  EXPECT_TRUE(model.unused_keys.empty());
}

TEST_F(HuggingFace, NestedTextSectionIsRead) {
  const TransformerModel model = load(
      R"({"model_type": "llava", "vision_config": {"hidden_size": 7}, "text_config": )" + std::string(kLlama) + "}}");
  EXPECT_EQ(model.hidden, 512);
  EXPECT_EQ(model.family, "llama");
}

TEST_F(HuggingFace, MissingDimensionIsNeverGuessed) {
  const std::string what = complaint(R"({"model_type": "llama", "text_config": {"hidden_size": 512}})");
  EXPECT_THAT(what, HasSubstr("text_config.num_hidden_layers"));
  EXPECT_THAT(what, HasSubstr("text_config.n_layer"));
  EXPECT_THAT(what, HasSubstr("num_attention_heads"));
  EXPECT_THAT(what, HasSubstr("intermediate_size"));
  EXPECT_THAT(what, HasSubstr("vocab_size"));
}

TEST_F(HuggingFace, OtherModelTypesListWhatIsSupported) {
  const std::string what = complaint(R"({"model_type": "mamba", "hidden_size": 512})");
  EXPECT_THAT(what, AllOf(HasSubstr("mamba"), HasSubstr("llama"), HasSubstr("gpt_neox"), HasSubstr("mixtral")));
  EXPECT_THAT(complaint(R"({"hidden_size": 512})"), AllOf(HasSubstr("model_type"), HasSubstr("missing")));
}

TEST_F(HuggingFace, WrongValuesAreRefused) {
  const std::string start = R"({"model_type": "gpt2", "n_layer": 12, "n_head": 12, "n_positions": 1024, )";
  EXPECT_THAT(complaint(start + R"("n_embd": -768, "vocab_size": 50257})"), HasSubstr("n_embd"));
  EXPECT_THAT(complaint(start + R"("n_embd": "wide", "vocab_size": 50257})"), HasSubstr("n_embd"));
  EXPECT_THAT(complaint(start + R"("n_embd": 768, "vocab_size": 1e300})"), HasSubstr("vocab_size"));
  EXPECT_THAT(complaint(start + R"("n_embd": 770, "vocab_size": 50257})"), HasSubstr("12 heads do not divide"));
  EXPECT_THAT(complaint(start + R"("n_embd": 768, "vocab_size": 50257, "activation_function": "silu"})"),
              HasSubstr("gelu or relu"));
}

TEST_F(HuggingFace, UnevenKeyValueHeadsAreRefused) {
  EXPECT_THAT(complaint(std::string(kLlama) + R"(, "num_key_value_heads": 3})"), HasSubstr("3 key-value heads"));
}

TEST_F(HuggingFace, MixtralNeedsItsExperts) {
  std::string text(kLlama);
  text.replace(text.find("llama"), 5, "mixtral");
  const std::string what = complaint(text + "}");
  EXPECT_THAT(
      what, AllOf(HasSubstr("num_local_experts"), HasSubstr("num_experts_per_tok"), HasSubstr("num_key_value_heads")));
}

TEST(MakeModel, FamiliesOfTables) {
  const ModelDimensions dimensions{24, 2048, 16, 0, 8192, 50368, 2048};
  EXPECT_TRUE(make_model("gpt", "a", dimensions).attention_bias);
  EXPECT_FALSE(make_model("mpt", "a", dimensions).attention_bias);
  EXPECT_TRUE(make_model("maxtext", "a", dimensions).gated_mlp);
  EXPECT_TRUE(make_model("palm", "a", dimensions).parallel_residual);
  EXPECT_EQ(make_model("bert", "a", dimensions).token_types, 2);
  EXPECT_THROW(make_model("mamba", "a", dimensions), ConfigError);
  EXPECT_THROW(make_model("gpt", "a", {24, 2050, 16, 0, 8192, 50368, 2048}), ConfigError);
  EXPECT_THROW(make_model("gpt", "a", {24, 0, 16, 0, 8192, 50368, 2048}), ConfigError);
}

TEST(MakeModel, VocabularyIsPaddedOnlyWhereItDoesNotDivide) {
  const TransformerModel model = make_gpt("gpt", 2, 64, 4, 256, 50257, 128);
  EXPECT_EQ(vocabulary_share(model, 1), 50257);
  EXPECT_EQ(vocabulary_share(model, 8), 6400);
}

}  // namespace
}  // namespace tandem
