// SPDX-License-Identifier: Apache-2.0
// The layers at both ends: embedding and head.
#include "workloads/layer_builder.h"
#include "workloads/layer_graph.h"

namespace tandem {
namespace {

using Index = LayerBuilder::Index;
using After = LayerBuilder::After;

/// Masked language model: dense, activation, norm ahead of the decoder; next sentence: the pooled first token.
After add_bert_heads(LayerBuilder& in) {
  const TransformerModel& model = in.model();
  const LayerShapes& shapes = in.shapes();
  if (model.pooler) {
    const Index pooled = in.linear("head.pooler", shapes.sequences, model.hidden, model.hidden);
    const Index biased = in.bias("head.pooler.bias", {shapes.sequences, model.hidden}, pooled);
    if (model.nsp_head) in.linear("head.next_sentence", shapes.sequences, model.hidden, 2, {biased});
  }
  if (!model.mlm_transform) return {};
  const VectorShape shape{shapes.split_tokens, model.hidden};
  Index last = in.linear("head.transform", shapes.split_tokens, model.hidden, model.hidden);
  last = in.stash(in.bias("head.transform.bias", shape, last));
  last = in.stash(in.vector("head.transform.activation", OperatorKind::gelu, shape, {last}));
  return {in.norm("head.transform.norm", shapes.split_tokens, {last})};
}

/// Largest logit, logit of the label, sum of exponentials: one fp32 a token each, summed over the vocabulary's parts.
/// Source: Megatron-LM, vocab_parallel_cross_entropy.
void reduce_loss(LayerBuilder& in) {
  CommunicationPoint& here = in.point("loss");
  if (in.plan().tp == 1) return;
  const Bytes one = Bytes(4) * in.shapes().tokens;
  for (const char* what : {"largest_logit", "label_logit", "exponentials"}) {
    here.forward.push_back(collective_step(Axis::tensor, CollectiveKind::all_reduce, one, what));
  }
}

}  // namespace

LayerGraph embedding_layer(const TransformerModel& model, const Plan& plan) {
  LayerBuilder in("embedding", "tokens", model, plan);
  const LayerShapes& shapes = in.shapes();
  const VectorShape shape{shapes.split_tokens, model.hidden};
  Index last = in.vector("embedding.tokens", OperatorKind::embedding, {shapes.tokens, model.embedding_dim});
  in.leave_tensor_region("positions", model.embedding_dim);
  if (model.embedding_dim != model.hidden) {
    last = in.linear("embedding.project", shapes.split_tokens, model.embedding_dim, model.hidden, {last});
  }
  if (model.position_embeddings > 0) {
    last = in.vector("embedding.positions", OperatorKind::residual_add, shape, {last});
  }
  if (model.token_types > 0) last = in.vector("embedding.types", OperatorKind::residual_add, shape, {last});
  if (model.embedding_norm) last = in.norm("embedding.norm", shapes.split_tokens, {last});
  if (model.hidden_dropout > 0) in.vector("embedding.dropout", OperatorKind::dropout, shape, {last});
  return in.take();
}

LayerGraph head_layer(const TransformerModel& model, const Plan& plan) {
  LayerBuilder in("head", "norm", model, plan);
  const LayerShapes& shapes = in.shapes();
  After last = add_bert_heads(in);
  if (model.final_norm) last = {in.norm("head.norm", shapes.split_tokens, last)};
  if (model.embedding_dim != model.hidden) {
    last = {in.linear("head.project", shapes.split_tokens, model.hidden, model.embedding_dim, last)};
  }
  in.enter_tensor_region("logits");
  last = {in.linear("head.logits", shapes.tokens, model.embedding_dim, shapes.vocab, last)};
  if (model.head_bias) last = {in.bias("head.logits.bias", {shapes.tokens, shapes.vocab}, last.front())};
  const Index loss = in.vector("head.loss", OperatorKind::cross_entropy, {shapes.tokens, shapes.vocab}, last);
  // The softmax is computed and kept in fp32.
  in.op(loss).outputs = {{.bytes = Bytes(4) * checked_product(shapes.tokens, shapes.vocab), .stashed = true}};
  reduce_loss(in);
  return in.take();
}

}  // namespace tandem
