// SPDX-License-Identifier: Apache-2.0
#include "workloads/layer_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "workloads/pipeline.h"

namespace tandem {
namespace {

using Index = std::int32_t;

struct Range {
  Index begin = 0, end = 0;
};

OperatorGraph subgraph(const OperatorGraph& graph, Range range) {
  OperatorGraph part;
  part.operators.assign(graph.operators.begin() + range.begin, graph.operators.begin() + range.end);
  for (const auto& [from, to] : graph.edges) {
    if (from >= range.begin && to < range.end) part.edges.push_back({from - range.begin, to - range.begin});
  }
  return part;
}

/// Nothing of `range` is kept for the backward pass: it is computed again there.
void forget_stash(OperatorGraph& graph, Range range) {
  for (Index i = range.begin; i < range.end; ++i) {
    auto& outputs = graph.operators[static_cast<std::size_t>(i)].outputs;
    outputs.erase(std::remove_if(outputs.begin() + 1, outputs.end(), [](const Operand& side) { return side.stashed; }),
                  outputs.end());
    outputs.front().stashed = false;
  }
}

OperatorGraph recomputed(OperatorGraph graph) {
  for (Operator& op : graph.operators) op.pass = Pass::recompute;
  return graph;
}

/// Gradients of weights are summed over microbatches in the exchange's own type.
void accumulate_gradients(OperatorGraph& graph, const Plan& plan) {
  const auto resized = [&](Operand& operand, DataType now) {
    operand.bytes = gradient_bytes(plan) * (operand.bytes.value() / size_of(now).value());
  };
  for (Operator& op : graph.operators) {
    if (op.pass != Pass::backward_weight) continue;
    for (Operand& output : op.outputs) resized(output, op.dtype);
    if (op.kind == OperatorKind::embedding) resized(op.inputs.back(), op.dtype);
    if (is_matmul(op.kind) && plan.microbatches() > 1) {
      const VectorShape shape{checked_product(op.matmul.batch, op.matmul.m), op.matmul.n};
      op.epilogue.push_back({OperatorKind::residual_add, Pass::backward_weight, shape, op.outputs.front().bytes, {}});
    }
  }
}

/// Appends `part` to `graph`; returns the index of its first operator.
Index append(OperatorGraph& graph, const OperatorGraph& part) {
  const auto offset = static_cast<Index>(graph.operators.size());
  graph.operators.insert(graph.operators.end(), part.operators.begin(), part.operators.end());
  for (const auto& [from, to] : part.edges) graph.edges.push_back({from + offset, to + offset});
  return offset;
}

enum class Gradients { of_data, of_weights };

bool wanted(const Operator& op, Gradients which) {
  return (op.pass == Pass::backward_weight) == (which == Gradients::of_weights);
}

/// The operators of one half of a backward pass. Nothing waits for gradients of weights, so each half stands alone.
OperatorGraph half_of(const OperatorGraph& backward, Gradients which) {
  OperatorGraph half;
  std::vector<Index> moved(backward.operators.size(), -1);
  for (std::size_t i = 0; i < backward.operators.size(); ++i) {
    if (!wanted(backward.operators[i], which)) continue;
    moved[i] = static_cast<Index>(half.operators.size());
    half.operators.push_back(backward.operators[i]);
  }
  for (const auto& [from, to] : backward.edges) {
    const Index a = moved[static_cast<std::size_t>(from)];
    const Index b = moved[static_cast<std::size_t>(to)];
    if (a >= 0 && b >= 0) half.edges.push_back({a, b});
  }
  return half;
}

class Steps {
 public:
  Steps(const LayerGraph& layer, const Plan& plan, SliceTable& slices) : layer_(layer), plan_(plan), slices_(slices) {}

  std::vector<Step> forward() {
    OperatorGraph graph = layer_.forward;
    if (plan_.recompute == Recompute::full) forget_stash(graph, whole());
    // Flash attention's own backward computes the core again either way, from the sums that are kept.
    if (plan_.recompute == Recompute::selective && plan_.attention == Attention::unfused) forget_stash(graph, core());
    return forward_steps(graph, "forward");
  }

  /// Gradients of the weights alone; what they need has been gathered for the gradients of the data.
  std::vector<Step> weight() {
    std::vector<Step> steps;
    const OperatorGraph graph = half_of(backward_graph(whole()), Gradients::of_weights);
    if (!graph.operators.empty()) steps.emplace_back(slices_.add(layer_.name + ".weight", finished(graph)));
    return steps;
  }

  std::vector<Step> backward() {
    std::vector<Step> steps;
    if (plan_.recompute == Recompute::full) steps = forward_steps(recomputed(layer_.forward), "recompute");
    Index end = whole().end;
    std::string behind;
    for (std::size_t i = layer_.points.size(); i-- > 0;) {
      const CommunicationPoint& point = layer_.points[i];
      behind = behind.empty() ? point.behind : fmt::format("{}+{}", point.behind, behind);
      if (i > 0 && point.backward.empty() && point.regather.empty()) continue;
      steps.insert(steps.end(), point.regather.begin(), point.regather.end());
      if (point.before < end) add_backward(steps, behind, {point.before, end});
      steps.insert(steps.end(), point.backward.begin(), point.backward.end());
      end = point.before;
      behind.clear();
    }
    return steps;
  }

 private:
  void add_backward(std::vector<Step>& steps, const std::string& behind, Range range) {
    OperatorGraph graph = backward_graph(range);
    if (splits_backward(plan_.schedule)) graph = half_of(graph, Gradients::of_data);
    if (graph.operators.empty()) return;
    steps.emplace_back(slices_.add(slice_name(behind, range, "backward"), finished(graph)));
  }
  [[nodiscard]] Range whole() const { return {0, static_cast<Index>(layer_.forward.operators.size())}; }
  [[nodiscard]] Range core() const { return {layer_.core_begin, layer_.core_end}; }

  std::vector<Step> forward_steps(const OperatorGraph& graph, const std::string& pass) {
    std::vector<Step> steps;
    Index begin = 0;
    std::string behind;
    const auto compute_until = [&](Index end) {
      if (begin < end) {
        steps.emplace_back(
            slices_.add(slice_name(behind, {begin, end}, pass), finished(subgraph(graph, {begin, end}))));
      }
      begin = end;
    };
    for (const CommunicationPoint& point : layer_.points) {
      if (!point.forward.empty()) {
        compute_until(point.before);
        behind.clear();
        steps.insert(steps.end(), point.forward.begin(), point.forward.end());
      }
      behind += fmt::format("{}{}", behind.empty() ? "" : "+", point.behind);
    }
    compute_until(whole().end);
    return steps;
  }

  /// "block.forward" if it is all of the layer, else "block.norm+attention.forward".
  [[nodiscard]] std::string slice_name(const std::string& behind, Range range, const std::string& pass) const {
    const bool all = range.begin == 0 && range.end == whole().end;
    return all ? fmt::format("{}.{}", layer_.name, pass) : fmt::format("{}.{}.{}", layer_.name, behind, pass);
  }

  [[nodiscard]] OperatorGraph finished(const OperatorGraph& graph) const {
    OperatorGraph result = plan_.fusion == Fusion::epilogue ? fuse(graph) : graph;
    accumulate_gradients(result, plan_);
    return result;
  }

  /// Part of the core that is computed again ahead of its gradients.
  [[nodiscard]] Range core_again() const {
    if (plan_.attention == Attention::flash)
      return {layer_.core_begin, std::max(layer_.core_begin, layer_.core_end - 1)};
    if (plan_.recompute == Recompute::selective) return core();
    return {};
  }

  [[nodiscard]] OperatorGraph backward_graph(Range range) const {
    OperatorGraph gradients = tandem::backward(subgraph(layer_.forward, range));
    const Range again = core_again();
    if (again.begin >= again.end || again.begin < range.begin || again.end > range.end) return gradients;
    OperatorGraph graph = recomputed(subgraph(layer_.forward, again));
    const auto last = static_cast<Index>(graph.operators.size()) - 1;
    const Index offset = append(graph, gradients);
    for (auto i = offset; i < static_cast<Index>(graph.operators.size()); ++i) {
      if (belongs_to_core(graph.operators[static_cast<std::size_t>(i)])) graph.edges.push_back({last, i});
    }
    return graph;
  }

  [[nodiscard]] bool belongs_to_core(const Operator& gradient) const {
    const auto& operators = layer_.forward.operators;
    return std::any_of(operators.begin() + layer_.core_begin, operators.begin() + layer_.core_end,
                       [&](const Operator& op) { return gradient.name.starts_with(op.name + "."); });
  }

  const LayerGraph& layer_;
  const Plan& plan_;
  SliceTable& slices_;
};

}  // namespace

ComputeStep SliceTable::add(const std::string& name, OperatorGraph graph) {
  const auto same = std::find_if(slices_.begin(), slices_.end(), [&](const Slice& one) { return one.graph == graph; });
  const auto index = static_cast<std::int32_t>(same - slices_.begin());
  if (same == slices_.end()) slices_.push_back({name, std::move(graph), {}, {}});
  return {index};
}

std::vector<Step> replica_steps(CollectiveKind kind, const ParameterShare& share, Bytes bytes_each, const Plan& plan,
                                const std::string& what) {
  std::vector<Step> steps;
  // Without expert parallelism the experts are replicated like everything else.
  const std::int64_t everywhere = share.dense + (plan.ep == 1 ? share.expert : 0);
  const std::int64_t of_experts = plan.ep == 1 ? 0 : share.expert;
  if (everywhere > 0 && plan.dp * plan.cp > 1) {
    steps.emplace_back(collective_step(Axis::data, kind, bytes_each * everywhere, what));
  }
  if (of_experts > 0 && plan.dp * plan.cp > plan.ep) {
    steps.emplace_back(collective_step(Axis::expert_data, kind, bytes_each * of_experts, what));
  }
  return steps;
}

LayerProgram layer_program(const LayerGraph& layer, const Plan& plan, const ParameterShare& share, SliceTable& slices) {
  LayerProgram program;
  program.name = layer.name;
  Steps steps(layer, plan, slices);
  program.forward = steps.forward();
  program.backward = steps.backward();
  if (plan.zero_stage == 3) {
    const auto gather = replica_steps(CollectiveKind::all_gather, share, parameter_bytes(plan), plan, "parameters");
    program.forward.insert(program.forward.begin(), gather.begin(), gather.end());
    program.backward.insert(program.backward.begin(), gather.begin(), gather.end());
  }
  if (splits_backward(plan.schedule)) program.weight = steps.weight();
  if (plan.zero_stage >= 2) {
    const auto scatter = replica_steps(CollectiveKind::reduce_scatter, share, gradient_bytes(plan), plan, "gradients");
    auto& last = splits_backward(plan.schedule) ? program.weight : program.backward;
    last.insert(last.end(), scatter.begin(), scatter.end());
  }
  return program;
}

Operator optimizer_operator(std::int64_t parameters, const Plan& plan) {
  // Any factorisation has the same elements; rows that are neither tiny nor huge map well.
  std::int64_t cols = std::clamp<std::int64_t>(parameters, 1, 8192);
  while (parameters % cols != 0) --cols;
  const bool adam = plan.optimizer == Optimizer::adam;
  Operator op = make_vector(adam ? "optimizer.adam" : "optimizer.sgd",
                            adam ? OperatorKind::optimizer : OperatorKind::residual_add, {parameters / cols, cols},
                            DataType::fp32, Pass::update);
  const Bytes fp32 = Bytes(4) * parameters;
  const Operand state{.bytes = fp32, .weight = true};
  op.inputs.assign(adam ? 3 : 1, state);  // master weights (or the weights), moments
  op.outputs = op.inputs;
  op.inputs.push_back({.bytes = gradient_bytes(plan) * parameters, .weight = true});
  if (parameter_bytes(plan) < Bytes(4))
    op.outputs.push_back({.bytes = parameter_bytes(plan) * parameters, .weight = true});
  return op;
}

}  // namespace tandem
