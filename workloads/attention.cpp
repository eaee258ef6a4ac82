// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention.h"

#include <cmath>

namespace tandem {
namespace {

using Index = LayerBuilder::Index;

void keep_in_cores(std::vector<Operand>& operands) {
  for (Operand& operand : operands) operand.where = Residency::core;
}

/// Scores, mask, softmax, dropout and context: a matrix of queries x keys for every head in between.
class Core {
 public:
  explicit Core(LayerBuilder& builder)
      : in_(builder),
        flash_(builder.plan().attention == Attention::flash),
        maps_(builder.shapes().sequences * builder.shapes().heads),
        matrix_{checked_product(maps_, builder.shapes().queries), builder.shapes().keys} {}

  Index build(const LayerBuilder::After& qkv) {
    Index last = scores(qkv);
    // Flash attention masks whole tiles by not computing them; the scaling rides on the exponential.
    const bool by_parts = !flash_ && !in_.plan().fused_softmax;
    if (by_parts) last = cast(last, "attention.to_fp32", size_of(activation_type(in_.plan())), kFp32);
    if (!flash_) last = in_.vector("attention.scale_mask", OperatorKind::scale_mask, matrix_, {last});
    last = softmax(last);
    if (by_parts) last = cast(last, "attention.from_fp32", kFp32, size_of(activation_type(in_.plan())));
    if (in_.model().attention_dropout > 0) last = dropout(last);
    return context(last, qkv);
  }

 private:
  static constexpr Bytes kFp32{4};

  /// Bytes of the keys (or values) of all key-value heads: those of a group are shared by its query heads.
  [[nodiscard]] Bytes shared_bytes() const {
    const LayerShapes& shapes = in_.shapes();
    return size_of(activation_type(in_.plan())) *
           checked_product(shapes.sequences, shapes.kv_heads, shapes.keys, in_.model().head_dim);
  }

  Index matmul(const std::string& name, std::int64_t n, std::int64_t k, const LayerBuilder::After& after) {
    Operator op =
        make_matmul(name, {maps_, in_.shapes().queries, n, k}, activation_type(in_.plan()), Pass::forward, false);
    op.kind = OperatorKind::batched_matmul;
    op.inputs[1].bytes = shared_bytes();
    op.causal = flash_ && in_.model().causal;
    if (op.causal) op.causal_keys = in_.shapes().keys;
    return in_.add(op, after);
  }

  Index scores(const LayerBuilder::After& qkv) {
    const Index index = matmul("attention.scores", in_.shapes().keys, in_.model().head_dim, qkv);
    if (flash_) keep_in_cores(in_.op(index).outputs);
    return index;
  }

  Index cast(Index of, const std::string& name, Bytes from, Bytes to) {
    const Index index = in_.vector(name, OperatorKind::copy, matrix_, {of});
    const std::int64_t elements = checked_product(matrix_.rows, matrix_.cols);
    in_.op(index).inputs.front().bytes = from * elements;
    in_.op(index).outputs.front().bytes = to * elements;
    return index;
  }

  Index softmax(Index of) {
    const Index index = in_.vector("attention.softmax", OperatorKind::softmax, matrix_, {of});
    Operator& op = in_.op(index);
    if (!flash_) return in_.stash(index);
    keep_in_cores(op.inputs);
    keep_in_cores(op.outputs);
    // The logarithm of each row's sum, in fp32, is all that the backward pass needs.
    op.outputs.push_back({.bytes = Bytes(4) * matrix_.rows, .stashed = true});
    return index;
  }

  Index dropout(Index of) {
    const Index index = in_.vector("attention.dropout", OperatorKind::dropout, matrix_, {of});
    Operator& op = in_.op(index);
    if (!flash_) return in_.stash(index);
    // The mask is drawn again from its seed.
    op.outputs.resize(1);
    keep_in_cores(op.inputs);
    keep_in_cores(op.outputs);
    return index;
  }

  Index context(Index of, const LayerBuilder::After& qkv) {
    LayerBuilder::After after = qkv;
    after.push_back(of);
    const Index index = matmul("attention.context", in_.model().head_dim, in_.shapes().keys, after);
    if (flash_) in_.op(index).inputs[0].where = Residency::core;
    return in_.stash(index);
  }

  LayerBuilder& in_;
  bool flash_;
  std::int64_t maps_;
  VectorShape matrix_;
};

Index rotary(LayerBuilder& in, Index qkv) {
  const TransformerModel& model = in.model();
  const LayerShapes& shapes = in.shapes();
  const auto rotated =
      static_cast<std::int64_t>(std::llround(model.rotary_fraction * static_cast<double>(model.head_dim)));
  return in.vector("attention.rotary", OperatorKind::rotary,
                   {shapes.tokens, checked_product(shapes.heads + shapes.kv_heads, rotated)}, {qkv});
}

/// Every device attends with its own queries to all keys and values.
void gather_keys_and_values(LayerBuilder& in) {
  if (in.plan().cp == 1) return;
  const LayerShapes& shapes = in.shapes();
  const Bytes whole = size_of(activation_type(in.plan())) *
                      checked_product(2, shapes.sequences, shapes.keys, shapes.kv_heads, in.model().head_dim);
  CommunicationPoint& here = in.point("core");
  here.forward.push_back(collective_step(Axis::context, CollectiveKind::all_gather, whole));
  here.backward.push_back(collective_step(Axis::context, CollectiveKind::reduce_scatter, whole));
  here.regather.push_back(collective_step(Axis::context, CollectiveKind::all_gather, whole, "regather"));
}

}  // namespace

Index add_attention(LayerBuilder& in, const LayerBuilder::After& from) {
  const TransformerModel& model = in.model();
  const LayerShapes& shapes = in.shapes();
  const std::int64_t columns = checked_product(shapes.heads + 2 * shapes.kv_heads, model.head_dim);
  Index qkv = in.linear("attention.qkv", shapes.tokens, model.hidden, columns, from);
  if (model.attention_bias) qkv = in.bias("attention.qkv.bias", {shapes.tokens, columns}, qkv);
  in.stash(qkv);
  LayerBuilder::After heads{qkv};
  // Queries and keys are rotated where they stand, so what is stashed is still the size of one qkv.
  if (model.rotary && model.rotary_fraction > 0) heads.push_back(rotary(in, qkv));
  gather_keys_and_values(in);
  in.begin_core();
  const Index context = Core(in).build(heads);
  in.end_core();
  return in.linear("attention.out", shapes.tokens, checked_product(shapes.heads, model.head_dim), model.hidden,
                   {context});
}

}  // namespace tandem
