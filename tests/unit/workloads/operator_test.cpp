// SPDX-License-Identifier: Apache-2.0
#include "workloads/operator.h"

#include <gtest/gtest.h>

#include <numeric>

#include "workloads/answer.h"
#include "workloads/vector_work.h"

namespace tandem {
namespace {

TEST(Operator, MatmulCountsTwoFlopsAMacAndEachOperandOnce) {
  const Operator op = make_matmul("fc", {1, 4096, 11008, 4096}, DataType::bf16);
  EXPECT_EQ(op.kind, OperatorKind::matmul);
  EXPECT_EQ(op.matmul_flops(), Flops(2LL * 4096 * 11008 * 4096));
  EXPECT_EQ(op.hbm_bytes(), Bytes(2LL * (4096 * 4096 + 4096 * 11008 + 4096 * 11008)));
  EXPECT_TRUE(op.inputs[1].weight);
}

TEST(Operator, CausalScoresNeedTheTriangleWithItsDiagonal) {
  Operator scores = make_matmul("scores", {3, 4, 4, 8}, DataType::bf16, Pass::forward, false);
  scores.causal = true;
  std::int64_t macs = 0;
  for (int query = 0; query < 4; ++query) macs += 3 * 8 * (query + 1);
  EXPECT_EQ(scores.matmul_flops(), Flops(2 * macs));

  Operator values = make_matmul("values", {3, 4, 8, 4}, DataType::bf16, Pass::forward, false);
  values.causal = true;
  EXPECT_EQ(values.matmul_flops(), Flops(2 * macs));
}

TEST(Operator, CausalPartsOfABalancedContextSplitAddUp) {
  for (const MatmulShape& whole : {MatmulShape{2, 64, 64, 16}, MatmulShape{2, 64, 16, 64}}) {
    Operator op = make_matmul("scores", whole, DataType::bf16, Pass::forward, false);
    op.causal = true;
    Operator part = op;
    part.matmul.m /= 4;
    part.causal_keys = 64;
    EXPECT_EQ(part.matmul_flops() * 4, op.matmul_flops());
  }
  // Gradients of keys and values: m is the keys, k the queries.
  Operator whole = make_matmul("scores.grad_b", {2, 64, 16, 64}, DataType::bf16, Pass::backward_data, false);
  whole.causal = true;
  Operator part = whole;
  part.matmul.k /= 4;
  part.causal_keys = 64;
  EXPECT_EQ(part.matmul_flops() * 4, whole.matmul_flops());
}

TEST(Operator, OperandsInACoreDoNotTouchHbm) {
  Operator op = make_matmul("scores", {1, 8, 8, 8}, DataType::fp32, Pass::forward, false);
  op.outputs[0].where = Residency::core;
  EXPECT_EQ(op.hbm_bytes(), Bytes(2 * 8 * 8 * 4));
}

TEST(Operator, EpilogueAddsItsOperationsAndExtraBytes) {
  Operator op = make_matmul("fc", {1, 8, 8, 8}, DataType::bf16);
  const Bytes before = op.hbm_bytes();
  op.epilogue.push_back({OperatorKind::residual_add, Pass::forward, {8, 8}, Bytes(128), Bytes(64)});
  EXPECT_EQ(op.vector_flops(), Flops(64));
  EXPECT_EQ(op.flops(), op.matmul_flops() + Flops(64));
  EXPECT_EQ(op.hbm_bytes(), before + Bytes(192));
}

TEST(Operator, SizesBeyond64BitsAreRefused) {
  const Operator op = make_vector("huge", OperatorKind::relu, {1, 1}, DataType::bf16);
  Operator huge = op;
  huge.vector = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_THROW((void)huge.vector_flops(), std::overflow_error);
  EXPECT_THROW(make_matmul("huge", {1, std::int64_t{1} << 40, 1, std::int64_t{1} << 40}, DataType::bf16),
               std::overflow_error);
}

TEST(Operator, LayernormBringsScaleAndShift) {
  const Operator op = make_vector("norm", OperatorKind::layernorm, {16, 1024}, DataType::bf16);
  EXPECT_EQ(op.hbm_bytes(), Bytes(2 * (2 * 16 * 1024 + 2 * 1024)));
  const Operator grad = make_vector("norm", OperatorKind::layernorm, {16, 1024}, DataType::bf16, Pass::backward_data);
  EXPECT_EQ(grad.hbm_bytes(), Bytes(2 * (3 * 16 * 1024 + 4 * 1024)));
}

TEST(Operator, DropoutKeepsAMaskOfOneByteAnElement) {
  const Operator op = make_vector("dropout", OperatorKind::dropout, {4, 8}, DataType::bf16);
  ASSERT_EQ(op.outputs.size(), 2u);
  EXPECT_EQ(op.outputs[1], (Operand{.bytes = Bytes(32), .stashed = true}));
  const Operator grad = make_vector("dropout", OperatorKind::dropout, {4, 8}, DataType::bf16, Pass::backward_data);
  EXPECT_EQ(grad.hbm_bytes(), Bytes(32 + 64 + 64));
}

TEST(VectorWork, EveryVectorKindDoesSomethingInEveryPass) {
  for (const auto& [kind, name] : EnumNames<OperatorKind>::values) {
    for (const Pass pass : {Pass::forward, Pass::recompute, Pass::backward_data, Pass::backward_weight, Pass::update}) {
      const VectorWork work = vector_work(kind, pass);
      const double operations = std::accumulate(work.per_element.begin(), work.per_element.end(), 0.0);
      if (is_matmul(kind)) {
        EXPECT_EQ(operations, 0) << name;
      } else {
        EXPECT_GT(operations, 0) << name;
        EXPECT_GT(work.full_reads + work.full_writes, 0) << name;
        EXPECT_GE(work.passes, 1) << name;
      }
    }
  }
}

TEST(VectorWork, RecomputedWorkIsForwardWork) {
  const auto forward = vector_work(OperatorKind::softmax, Pass::forward);
  EXPECT_EQ(forward.per_element, vector_work(OperatorKind::softmax, Pass::recompute).per_element);
  EXPECT_EQ(forward.passes, 3);
}

TEST(TimeByCause, AddsUpAndRepeats) {
  TimeByCause a;
  a[Cause::compute] = Picoseconds(5);
  a[Cause::software] = Picoseconds(7);
  TimeByCause b = a.times(3);
  EXPECT_EQ(b.total(), Picoseconds(36));
  b += a;
  EXPECT_EQ(b[Cause::compute], Picoseconds(20));
  EXPECT_EQ(b.total(), Picoseconds(48));
}

}  // namespace
}  // namespace tandem
