// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "random_cases.h"
#include "workloads/operator_graph.h"

namespace tandem {
namespace {

using testing_cases::Draw;

/// Chains and branches of matmuls, element-wise operators and norms, all rows x width.
OperatorGraph random_graph(Draw& draw) {
  OperatorGraph graph;
  const std::int64_t rows = draw.between(1, 32), width = draw.between(1, 32);
  const std::int64_t count = draw.between(1, 24);
  for (std::int32_t i = 0; i < count; ++i) {
    std::vector<std::int32_t> after;
    if (i > 0) after.push_back(draw.coin() ? i - 1 : static_cast<std::int32_t>(draw.between(0, i - 1)));
    const VectorShape shape{rows, width};
    Operator op;
    switch (draw.between(0, 6)) {
      case 0:
      case 1: op = make_matmul("matmul", {1, rows, width, width}, DataType::bf16); break;
      case 2: op = make_vector("gelu", OperatorKind::gelu, shape, DataType::bf16); break;
      case 3: op = make_vector("bias", OperatorKind::bias_add, shape, DataType::bf16); break;
      case 4: op = make_vector("dropout", OperatorKind::dropout, shape, DataType::bf16); break;
      case 5: op = make_vector("norm", OperatorKind::layernorm, shape, DataType::bf16); break;
      default:
        op = make_vector("residual", OperatorKind::residual_add, shape, DataType::bf16);
        if (i > 1) after.push_back(static_cast<std::int32_t>(draw.between(0, i - 2)));
    }
    op.outputs.front().stashed = draw.coin();
    if (after.size() == 2 && after[0] == after[1]) after.pop_back();
    graph.add(op, after);
  }
  return graph;
}

Flops matmul_flops(const OperatorGraph& graph) {
  Flops sum{};
  for (const Operator& op : graph.operators) sum += op.matmul_flops();
  return sum;
}

TEST(GraphProperty, FusionConservesWorkAndExternalBytes) {
  std::size_t fused_somewhere = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    const OperatorGraph before = random_graph(draw);
    const OperatorGraph after = fuse(before);
    ASSERT_NO_THROW(validate(after)) << seed;
    ASSERT_EQ(after.flops(), before.flops()) << seed;
    ASSERT_EQ(fuse(after).flops(), before.flops()) << seed;
    // Every fused tensor, all of one size here, saves its read, and its write unless it is stashed.
    const Bytes tensor = before.operators.front().outputs.front().bytes;
    const auto fused = static_cast<std::int64_t>(before.operators.size() - after.operators.size());
    const std::int64_t saved = (before.hbm_bytes() - after.hbm_bytes()).value();
    ASSERT_EQ(saved % tensor.value(), 0) << seed;
    ASSERT_GE(saved, fused * tensor.value()) << seed;
    ASSERT_LE(saved, 2 * fused * tensor.value()) << seed;
    for (const Operator& op : after.operators) {
      for (const FusedWork& work : op.epilogue) {
        ASSERT_GE(work.extra_read.value(), 0) << seed;
        ASSERT_GE(work.extra_write.value(), 0) << seed;
      }
    }
    fused_somewhere += fused > 0 ? 1 : 0;
  }
  EXPECT_GT(fused_somewhere, 1000u);
}

TEST(GraphProperty, BackwardDoesTwiceTheMatmulWork) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Draw draw(seed);
    const OperatorGraph forward = random_graph(draw);
    const OperatorGraph back = backward(forward);
    ASSERT_NO_THROW(validate(back)) << seed;
    ASSERT_EQ(matmul_flops(back), matmul_flops(forward) * 2) << seed;
  }
}

}  // namespace
}  // namespace tandem
