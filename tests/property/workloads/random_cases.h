// SPDX-License-Identifier: Apache-2.0
// Random models and plans without problems, for property tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "workloads/model.h"
#include "workloads/plan.h"

namespace tandem::testing_cases {

/// Small, portable draws: std distributions differ between libraries.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  template <typename T>
  T of(const std::vector<T>& choices) {
    return choices[engine_() % choices.size()];
  }
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool coin() { return engine_() % 2 == 0; }

 private:
  std::mt19937_64 engine_;
};

inline TransformerModel random_model(Draw& draw) {
  const auto family = draw.of<std::string>({"gpt", "llama", "bert", "gpt_neox", "opt", "mpt", "palm", "mixtral"});
  const std::int64_t heads = draw.of<std::int64_t>({8, 16, 24});
  const std::int64_t head_dim = draw.of<std::int64_t>({16, 64});
  ModelDimensions dimensions;
  dimensions.layers = draw.between(1, 12);
  dimensions.heads = heads;
  dimensions.hidden = heads * head_dim;
  dimensions.kv_heads = family == "llama" || family == "mixtral" ? draw.of<std::int64_t>({heads, 8}) : heads;
  dimensions.ffn = 8 * draw.between(8, 64);
  dimensions.vocab = 1024 * draw.between(1, 8);
  dimensions.positions = draw.of<std::int64_t>({64, 128, 256});
  const bool experts = family == "mixtral";
  TransformerModel model = make_model(experts ? "llama" : family, family, dimensions);
  if (experts) {
    model.family = family;
    model.experts = 8;
    model.experts_per_token = draw.of<std::int64_t>({1, 2});
  }
  return model;
}

inline Plan random_plan(Draw& draw, const TransformerModel& model) {
  Plan plan;
  plan.tp = draw.of<std::int64_t>({1, 2, 4, 8});
  plan.cp = draw.of<std::int64_t>({1, 1, 2});
  plan.dp = draw.of<std::int64_t>({1, 2, 4});
  plan.pp = draw.between(1, model.layers);
  if (model.experts > 0) plan.ep = draw.coin() ? plan.dp : 1;
  plan.sequence_parallel = draw.coin();
  plan.microbatch = draw.between(1, 3);
  plan.global_batch = plan.microbatch * plan.dp * draw.between(1, 4);
  plan.recompute = draw.of<Recompute>({Recompute::none, Recompute::selective, Recompute::full});
  plan.attention = draw.of<Attention>({Attention::unfused, Attention::flash});
  plan.zero_stage = draw.between(0, 3);
  plan.schedule = draw.of<PipelineSchedule>({PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b});
  plan.overlap_gradients = draw.coin();
  plan.fusion = draw.of<Fusion>({Fusion::none, Fusion::epilogue});
  return resolved(plan, model);
}

}  // namespace tandem::testing_cases
