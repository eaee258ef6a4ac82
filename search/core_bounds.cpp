// SPDX-License-Identifier: Apache-2.0
#include "search/core_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "arch/support/error.h"

namespace tandem {
namespace {

bool uses_tensor(CoreUse use) { return use == CoreUse::tensor || use == CoreUse::fused; }
bool uses_vector(CoreUse use) { return use == CoreUse::vector || use == CoreUse::fused; }

void check(const CoreProblem& problem) {
  for (std::size_t i = 0; i < problem.operators.size(); ++i) {
    const CoreOperator& op = problem.operators[i];
    for (const double time : {op.on_one, op.spread}) {
      if (!std::isfinite(time) || time < 0) throw ConfigError(fmt::format("operator {} has no valid time", i));
    }
    if ((uses_tensor(op.use) && problem.tensor_cores < 1) || (uses_vector(op.use) && problem.vector_cores < 1)) {
      throw InfeasibleError(fmt::format("operator {} has no core to run on", i));
    }
  }
  const auto n = static_cast<std::int32_t>(problem.operators.size());
  for (const auto& [from, to] : problem.edges) {
    if (from < 0 || to < 0 || from >= n || to >= n) {
      throw ConfigError(fmt::format("an edge from {} to {} among {} operators", from, to, n));
    }
  }
}

double work(const CoreGraph& graph, const std::vector<bool>& open, double weight) {
  const CoreProblem& problem = *graph.problem;
  const double tensor = weight / static_cast<double>(std::max<std::int64_t>(1, problem.tensor_cores));
  const double vector = (1 - weight) / static_cast<double>(std::max<std::int64_t>(1, problem.vector_cores));
  double sum = 0;
  for (std::size_t i = 0; i < problem.operators.size(); ++i) {
    if (!open[i]) continue;
    const CoreOperator& op = problem.operators[i];
    const double share = (uses_tensor(op.use) ? tensor : 0) + (uses_vector(op.use) ? vector : 0);
    if (op.use != CoreUse::none) sum += std::min(op.spread, op.on_one * share);
  }
  return sum;
}

std::vector<double> heads(const CoreGraph& graph) {
  std::vector<double> head(graph.least.size());
  for (const std::int32_t i : graph.order) {
    for (const std::int32_t next : graph.after[static_cast<std::size_t>(i)]) {
      double& start = head[static_cast<std::size_t>(next)];
      start = std::max(start, head[static_cast<std::size_t>(i)] + graph.least[static_cast<std::size_t>(i)]);
    }
  }
  return head;
}

}  // namespace

CoreGraph analyse(const CoreProblem& problem) {
  check(problem);
  const std::size_t n = problem.operators.size();
  CoreGraph graph{&problem,
                  std::vector<std::vector<std::int32_t>>(n),
                  std::vector<std::vector<std::int32_t>>(n),
                  {},
                  std::vector<double>(n),
                  std::vector<double>(n)};
  std::vector<std::size_t> missing(n);
  for (const auto& [from, to] : problem.edges) {
    graph.after[static_cast<std::size_t>(from)].push_back(to);
    graph.before[static_cast<std::size_t>(to)].push_back(from);
    ++missing[static_cast<std::size_t>(to)];
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (missing[i] == 0) graph.order.push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t next = 0; next < graph.order.size(); ++next) {
    for (const std::int32_t to : graph.after[static_cast<std::size_t>(graph.order[next])]) {
      if (--missing[static_cast<std::size_t>(to)] == 0) graph.order.push_back(to);
    }
  }
  if (graph.order.size() != n) throw ConfigError("the operators' dependencies form a cycle");
  for (std::size_t k = n; k-- > 0;) {
    const auto i = static_cast<std::size_t>(graph.order[k]);
    const CoreOperator& op = problem.operators[i];
    graph.least[i] = op.use == CoreUse::none ? 0 : std::min(op.on_one, op.spread);
    for (const std::int32_t to : graph.after[i]) {
      graph.tail[i] = std::max(graph.tail[i], graph.tail[static_cast<std::size_t>(to)]);
    }
    graph.tail[i] += graph.least[i];
  }
  return graph;
}

double work_bound(const CoreGraph& graph, const std::vector<bool>& open, CoresFree free) {
  double best = 0;
  for (const double weight : {0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0}) {
    best = std::max(best, weight * free.tensor + (1 - weight) * free.vector + work(graph, open, weight));
  }
  return best;
}

double root_bound(const CoreGraph& graph) {
  const std::size_t n = graph.least.size();
  if (n == 0) return 0;
  const std::vector<double> head = heads(graph);
  double best = *std::max_element(graph.tail.begin(), graph.tail.end());
  std::vector<double> rest(n);
  for (std::size_t i = 0; i < n; ++i) rest[i] = graph.tail[i] - graph.least[i];
  const std::set<double> from(head.begin(), head.end());
  const std::set<double> left(rest.begin(), rest.end());
  std::vector<bool> open(n);
  for (const double h : from) {
    for (const double q : left) {
      for (std::size_t i = 0; i < n; ++i) open[i] = head[i] >= h && rest[i] >= q;
      const bool any = std::find(open.begin(), open.end(), true) != open.end();
      if (any) best = std::max(best, q + work_bound(graph, open, {h, h}));
    }
  }
  return best;
}

}  // namespace tandem
