// SPDX-License-Identifier: Apache-2.0
// The unit of work: one kernel of one device, with its shape and the bytes it must move.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/chip.h"
#include "arch/data_type.h"
#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"

namespace tandem {

enum class OperatorKind {
  matmul,
  batched_matmul,
  softmax,
  layernorm,
  rmsnorm,
  gelu,
  relu,
  silu_mul,
  bias_add,
  residual_add,
  rotary,
  dropout,
  scale_mask,
  embedding,
  cross_entropy,
  router,
  copy,
  reduce,
  optimizer
};

template <>
struct EnumNames<OperatorKind> {
  static constexpr auto values =
      std::to_array<std::pair<OperatorKind, std::string_view>>({{OperatorKind::matmul, "matmul"},
                                                                {OperatorKind::batched_matmul, "batched_matmul"},
                                                                {OperatorKind::softmax, "softmax"},
                                                                {OperatorKind::layernorm, "layernorm"},
                                                                {OperatorKind::rmsnorm, "rmsnorm"},
                                                                {OperatorKind::gelu, "gelu"},
                                                                {OperatorKind::relu, "relu"},
                                                                {OperatorKind::silu_mul, "silu_mul"},
                                                                {OperatorKind::bias_add, "bias_add"},
                                                                {OperatorKind::residual_add, "residual_add"},
                                                                {OperatorKind::rotary, "rotary"},
                                                                {OperatorKind::dropout, "dropout"},
                                                                {OperatorKind::scale_mask, "scale_mask"},
                                                                {OperatorKind::embedding, "embedding"},
                                                                {OperatorKind::cross_entropy, "cross_entropy"},
                                                                {OperatorKind::router, "router"},
                                                                {OperatorKind::copy, "copy"},
                                                                {OperatorKind::reduce, "reduce"},
                                                                {OperatorKind::optimizer, "optimizer"}});
};

constexpr bool is_matmul(OperatorKind kind) {
  return kind == OperatorKind::matmul || kind == OperatorKind::batched_matmul;
}

enum class Pass { forward, recompute, backward_data, backward_weight, update };

template <>
struct EnumNames<Pass> {
  static constexpr auto values =
      std::to_array<std::pair<Pass, std::string_view>>({{Pass::forward, "forward"},
                                                        {Pass::recompute, "recompute"},
                                                        {Pass::backward_data, "backward_data"},
                                                        {Pass::backward_weight, "backward_weight"},
                                                        {Pass::update, "update"}});
};

/// C[batch, m, n] = A[batch, m, k] * B[batch, k, n].
struct MatmulShape {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool operator==(const MatmulShape&) const = default;
};

/// rows x cols elements; reductions and normalisations run along a row.
struct VectorShape {
  std::int64_t rows = 0, cols = 0;
  bool operator==(const VectorShape&) const = default;
};

/// Where an operand lives when the operator begins (input) or ends (output).
enum class Residency { hbm, global_buffer, core };

struct Operand {
  Bytes bytes{};  ///< distinct bytes (a key shared by several query heads counts once)
  Residency where = Residency::hbm;
  bool weight = false;
  bool stashed = false;  ///< kept for the backward pass: it stays in HBM even when its consumer is fused
  bool operator==(const Operand&) const = default;
};

/// Element-wise work that rides on the output tiles of a matmul (or of another element-wise operator) instead of being
/// an operator of its own.
struct FusedWork {
  OperatorKind kind{};
  Pass pass = Pass::forward;
  VectorShape shape;
  Bytes extra_read{};   ///< operands other than the matmul's own output (a residual, a bias)
  Bytes extra_write{};  ///< results kept besides the final one (a stashed pre-activation, a dropout mask)
  bool operator==(const FusedWork&) const = default;
};

struct Operator {
  std::string name;  ///< "attention.qkv"
  OperatorKind kind = OperatorKind::matmul;
  Pass pass = Pass::forward;
  DataType dtype = DataType::bf16;
  MatmulShape matmul;  ///< matmul kinds
  VectorShape vector;  ///< all other kinds
  /// Matmul of a causal attention: only work on or below the diagonal of the queries x keys plane is needed, which is
  /// m x n (scores) or m x k (values, and their gradients).
  bool causal = false;
  /// Keys of the causal plane where it is not square (0: m): context parallelism gives a device a part of the queries,
  /// taken as balanced (zigzag).
  std::int64_t causal_keys = 0;
  std::vector<Operand> inputs;   ///< matmul: {A, B}
  std::vector<Operand> outputs;  ///< matmul: {C}
  std::vector<FusedWork> epilogue;

  bool operator==(const Operator&) const = default;

  /// Needed operations of the tensor cores: 2 m n k batch; causal: exactly s (s + 1) / 2 of the s x s plane's MACs.
  /// 0 for vector kinds.
  [[nodiscard]] Flops matmul_flops() const;
  /// Element-wise operations, the epilogue's included.
  [[nodiscard]] Flops vector_flops() const;
  [[nodiscard]] Flops flops() const { return matmul_flops() + vector_flops(); }
  /// Least traffic to and from HBM: every operand that lives there once, the epilogue's extras included.
  [[nodiscard]] Bytes hbm_bytes() const;
};

/// A matmul with its three operands in HBM. `b_is_weight` marks B as a parameter.
Operator make_matmul(std::string name, MatmulShape shape, DataType dtype, Pass pass = Pass::forward,
                     bool b_is_weight = true);
/// A vector operator with its full-size operands in HBM, as many as the kind's table says (vector_work.h), and the
/// small ones that belong to the kind: a norm's scale (and shift), a bias, a dropout mask of one byte an element.
Operator make_vector(std::string name, OperatorKind kind, VectorShape shape, DataType dtype, Pass pass = Pass::forward);

}  // namespace tandem
