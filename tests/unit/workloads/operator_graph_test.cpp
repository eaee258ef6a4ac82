// SPDX-License-Identifier: Apache-2.0
#include "workloads/operator_graph.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tandem {
namespace {

/// fc1 -> bias -> gelu -> fc2, the pre-activation kept for the backward pass.
OperatorGraph mlp() {
  OperatorGraph graph;
  const auto fc1 = graph.add(make_matmul("fc1", {1, 16, 64, 8}, DataType::bf16));
  Operator bias = make_vector("bias", OperatorKind::bias_add, {16, 64}, DataType::bf16);
  bias.outputs[0].stashed = true;
  const auto biased = graph.add(bias, {fc1});
  const auto gelu = graph.add(make_vector("gelu", OperatorKind::gelu, {16, 64}, DataType::bf16), {biased});
  graph.add(make_matmul("fc2", {1, 16, 8, 64}, DataType::bf16), {gelu});
  return graph;
}

TEST(OperatorGraph, RefusesEdgesThatDoNotPointForward) {
  OperatorGraph graph = mlp();
  EXPECT_NO_THROW(validate(graph));
  graph.edges.push_back({2, 1});
  EXPECT_THROW(validate(graph), std::invalid_argument);
  graph.edges.back() = {0, 9};
  EXPECT_THROW(validate(graph), std::invalid_argument);
}

TEST(Fuse, ChainRidesOnTheMatmulThatFeedsIt) {
  const OperatorGraph before = mlp();
  const OperatorGraph after = fuse(before);
  ASSERT_EQ(after.operators.size(), 2u);
  ASSERT_EQ(after.operators[0].epilogue.size(), 2u);
  EXPECT_EQ(after.edges, (std::vector<OperatorGraph::Edge>{{0, 1}}));
  EXPECT_EQ(after.flops(), before.flops());
  // fc1's raw output is neither written nor read; the stashed pre-activation is written once and not read again.
  const std::int64_t tensor = 16 * 64 * 2;
  EXPECT_EQ(after.hbm_bytes(), before.hbm_bytes() - Bytes(3 * tensor));
  EXPECT_EQ(after.operators[0].epilogue[0].extra_read, Bytes(64 * 2));
  EXPECT_EQ(after.operators[0].epilogue[1].extra_write, Bytes(tensor));
}

TEST(Fuse, LeavesATensorThatOthersReadToo) {
  OperatorGraph graph;
  const auto fc = graph.add(make_matmul("fc", {1, 16, 64, 8}, DataType::bf16));
  graph.add(make_vector("gelu", OperatorKind::gelu, {16, 64}, DataType::bf16), {fc});
  graph.add(make_matmul("other", {1, 16, 8, 64}, DataType::bf16), {fc});
  EXPECT_EQ(fuse(graph), graph);
}

TEST(Fuse, LeavesNormsAndSoftmaxAlone) {
  OperatorGraph graph;
  const auto fc = graph.add(make_matmul("fc", {1, 16, 64, 8}, DataType::bf16));
  graph.add(make_vector("norm", OperatorKind::layernorm, {16, 64}, DataType::bf16), {fc});
  EXPECT_EQ(fuse(graph), graph);
}

TEST(Fuse, GatedActivationReadsBothHalvesOfOneOutput) {
  OperatorGraph graph;
  const auto fc = graph.add(make_matmul("gate_up", {1, 16, 128, 8}, DataType::bf16));
  graph.add(make_vector("act", OperatorKind::silu_mul, {16, 64}, DataType::bf16), {fc});
  const OperatorGraph fused = fuse(graph);
  ASSERT_EQ(fused.operators.size(), 1u);
  EXPECT_EQ(fused.operators[0].epilogue[0].extra_read, Bytes(0));
  EXPECT_EQ(fused.operators[0].outputs[0].bytes, Bytes(16 * 64 * 2));
}

TEST(Fuse, BiasDropoutAddIsOneKernelWithoutAMatmulToo) {
  OperatorGraph graph;
  const auto bias = graph.add(make_vector("bias", OperatorKind::bias_add, {16, 64}, DataType::bf16));
  const auto dropout = graph.add(make_vector("dropout", OperatorKind::dropout, {16, 64}, DataType::bf16), {bias});
  graph.add(make_vector("residual", OperatorKind::residual_add, {16, 64}, DataType::bf16), {dropout});
  const OperatorGraph fused = fuse(graph);
  ASSERT_EQ(fused.operators.size(), 1u);
  // Input, residual and result, the bias, and the mask.
  EXPECT_EQ(fused.hbm_bytes(), Bytes(3 * 16 * 64 * 2 + 64 * 2 + 16 * 64));
  EXPECT_EQ(fused.flops(), graph.flops());
}

TEST(Backward, MatmulHasDataAndWeightGradientOfEqualWork) {
  OperatorGraph graph;
  graph.add(make_matmul("fc", {1, 16, 64, 8}, DataType::bf16));
  const OperatorGraph back = backward(graph);
  ASSERT_EQ(back.operators.size(), 2u);
  const Operator& data = back.operators[0];
  const Operator& weight = back.operators[1];
  EXPECT_EQ(data.name, "fc.dgrad");
  EXPECT_EQ(data.pass, Pass::backward_data);
  EXPECT_EQ(data.matmul, (MatmulShape{1, 16, 8, 64}));
  EXPECT_EQ(weight.name, "fc.wgrad");
  EXPECT_EQ(weight.pass, Pass::backward_weight);
  EXPECT_EQ(weight.matmul, (MatmulShape{1, 8, 64, 16}));
  EXPECT_TRUE(weight.outputs[0].weight);
  EXPECT_FALSE(weight.inputs[1].weight);
  EXPECT_TRUE(back.edges.empty());
}

TEST(Backward, WeightGradientsHangOnTheChainButNothingHangsOnThem) {
  const OperatorGraph back = backward(mlp());
  ASSERT_EQ(back.operators.size(), 6u);  // fc2 d, w; gelu; bias; fc1 d, w
  EXPECT_EQ(back.operators[2].name, "gelu.grad");
  EXPECT_EQ(back.operators[3].name, "bias.grad");
  EXPECT_EQ(back.operators[3].outputs.size(), 1u);
  // The bias passes its gradient through: fc1's gradients wait for gelu's.
  EXPECT_EQ(back.edges, (std::vector<OperatorGraph::Edge>{{0, 2}, {2, 3}, {2, 4}, {2, 5}}));
}

TEST(Backward, ProductOfActivationsPassesBothGradientsOn) {
  OperatorGraph graph;
  const auto qkv = graph.add(make_matmul("qkv", {1, 16, 24, 8}, DataType::bf16));
  Operator scores = make_matmul("scores", {2, 16, 16, 4}, DataType::bf16, Pass::forward, false);
  scores.causal = true;
  scores.outputs[0].where = Residency::core;
  graph.add(scores, {qkv});
  const OperatorGraph back = backward(graph);
  ASSERT_EQ(back.operators.size(), 4u);
  EXPECT_EQ(back.operators[1].name, "scores.grad_b");
  EXPECT_EQ(back.operators[1].pass, Pass::backward_data);
  EXPECT_EQ(back.operators[1].matmul, (MatmulShape{2, 16, 4, 16})) << "rows of keys";
  EXPECT_EQ(back.operators[1].inputs[0].where, Residency::core);
  EXPECT_EQ(back.operators[0].inputs[0].where, Residency::core);
  EXPECT_EQ(back.operators[0].flops(), scores.flops());
  EXPECT_EQ(back.operators[1].flops(), scores.flops());
  EXPECT_EQ(back.edges, (std::vector<OperatorGraph::Edge>{{0, 2}, {1, 2}, {0, 3}, {1, 3}}));
}

}  // namespace
}  // namespace tandem
