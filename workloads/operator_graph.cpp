// SPDX-License-Identifier: Apache-2.0
#include "workloads/operator_graph.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

namespace tandem {

std::int32_t OperatorGraph::add(Operator op, const std::vector<std::int32_t>& after) {
  const auto index = static_cast<std::int32_t>(operators.size());
  operators.push_back(std::move(op));
  for (const std::int32_t from : after) edges.push_back({from, index});
  return index;
}

std::vector<std::vector<std::int32_t>> OperatorGraph::predecessors() const {
  std::vector<std::vector<std::int32_t>> result(operators.size());
  for (const Edge& edge : edges) result[static_cast<std::size_t>(edge.to)].push_back(edge.from);
  return result;
}

Flops OperatorGraph::flops() const {
  Flops sum{};
  for (const Operator& op : operators) sum += op.flops();
  return sum;
}

Bytes OperatorGraph::hbm_bytes() const {
  Bytes sum{};
  for (const Operator& op : operators) sum += op.hbm_bytes();
  return sum;
}

void validate(const OperatorGraph& graph) {
  const auto count = static_cast<std::int32_t>(graph.operators.size());
  for (const auto& [from, to] : graph.edges) {
    if (from < 0 || to >= count || from >= to) {
      throw std::invalid_argument(
          fmt::format("edge {} -> {} among {} operators does not point forward to one of them", from, to, count));
    }
  }
}

}  // namespace tandem
