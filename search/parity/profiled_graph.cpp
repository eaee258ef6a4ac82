// SPDX-License-Identifier: Apache-2.0
#include "search/parity/profiled_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <queue>

namespace tandem {
namespace {

/// Layers in topological order, ready ones by their position in the file; empty on a cycle.
std::vector<std::size_t> topological_order(const ProfiledGraph& graph) {
  std::vector<int> waiting(graph.layers.size(), 0);
  std::vector<std::vector<std::size_t>> next(graph.layers.size());
  for (const ProfiledEdge& edge : graph.edges) {
    ++waiting[edge.to];
    next[edge.from].push_back(edge.to);
  }
  std::queue<std::size_t> ready;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  for (; !ready.empty(); ready.pop()) {
    order.push_back(ready.front());
    for (const std::size_t to : next[ready.front()]) {
      if (--waiting[to] == 0) ready.push(to);
    }
  }
  if (order.size() != graph.layers.size()) order.clear();
  return order;
}

ProfiledGraph sorted(const ProfiledGraph& graph, const std::vector<std::size_t>& order) {
  ProfiledGraph result{.tensor_parallel = graph.tensor_parallel, .layers = {}, .edges = {}};
  std::vector<std::size_t> position(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    result.layers.push_back(graph.layers[order[i]]);
  }
  for (const ProfiledEdge& edge : graph.edges) {
    result.edges.push_back({position[edge.from], position[edge.to], edge.bytes});
  }
  return result;
}

std::map<std::int64_t, std::size_t> read_layers(const ConfigSection& nodes, const std::string& width,
                                                std::vector<ProfiledLayer>& layers) {
  std::map<std::int64_t, std::size_t> index;
  for (const ConfigSection& node : nodes.sections(width)) {
    const ProfiledLayer layer{.id = node.get<std::int64_t>("id"),
                              .parameter_bytes = node.get<double>("parameterSize", not_negative),
                              .activation_bytes = node.get<double>("activationSize", not_negative),
                              .forward_s = node.get<double>("optimalLatencyFw", not_negative),
                              .backward_s = node.get<double>("optimalLatencyBw", not_negative),
                              .tensor_parallel = node.get<bool>("isTensorParallelized")};
    if (!index.emplace(layer.id, layers.size()).second) {
      node.complain("id", fmt::format("layer {} stands twice", layer.id), "distinct ids");
    }
    layers.push_back(layer);
  }
  if (layers.empty()) nodes.complain(width, "no layers", "at least one layer");
  return index;
}

ProfiledGraph read_graph(const ConfigSection& nodes, const ConfigSection& edges, const std::string& width) {
  ProfiledGraph graph;
  const char* const end = width.data() + width.size();
  const auto [stop, code] = std::from_chars(width.data(), end, graph.tensor_parallel);
  if (code != std::errc{} || stop != end || graph.tensor_parallel < 1) {
    nodes.complain(width, fmt::format("'{}' is no tensor-parallel width", width), "a whole number from 1");
  }
  const auto index = read_layers(nodes, width, graph.layers);
  for (const ConfigSection& section : edges.sections(width)) {
    const auto from = index.find(section.get<std::int64_t>("sourceId"));
    const auto to = index.find(section.get<std::int64_t>("destId"));
    const double bytes = section.get<double>("communicationCost", not_negative);
    if (from == index.end()) section.complain("sourceId", "no layer has this id", "the id of a layer");
    if (to == index.end()) section.complain("destId", "no layer has this id", "the id of a layer");
    if (from != index.end() && to != index.end()) graph.edges.push_back({from->second, to->second, bytes});
  }
  const auto order = topological_order(graph);
  if (!order.empty()) return sorted(graph, order);
  if (!graph.layers.empty()) edges.complain(width, "the layers depend on each other in a circle", "an acyclic graph");
  return graph;
}

}  // namespace

std::vector<ProfiledGraph> read_profiled_graphs(const ConfigSection& root) {
  const ConfigSection nodes = root.section("nodes");
  const ConfigSection edges = root.section("edges");
  std::vector<ProfiledGraph> graphs;
  if (nodes.present() && nodes.keys().empty()) root.complain("nodes", "no layers", "layers by tensor-parallel width");
  for (const std::string& width : nodes.keys()) graphs.push_back(read_graph(nodes, edges, width));
  return graphs;
}

StageTable<StageSums> stage_sums(const ProfiledGraph& graph) {
  const std::size_t n = graph.layers.size();
  std::vector<std::vector<ProfiledEdge>> inputs(n);
  for (const ProfiledEdge& edge : graph.edges) inputs[edge.to].push_back(edge);
  StageTable<StageSums> table(n);
  for (std::size_t first = 0; first < n; ++first) {
    StageSums sum;
    for (std::size_t v = first; v < n; ++v) {
      const ProfiledLayer& layer = graph.layers[v];
      sum.parameters += layer.parameter_bytes;
      sum.activations += layer.activation_bytes;
      sum.backward_s += layer.backward_s;
      sum.wide = sum.wide || layer.tensor_parallel;
      for (const ProfiledEdge& edge : inputs[v]) {
        if (edge.from < first) sum.entering += edge.bytes;
      }
      table(first, v) = sum;
    }
  }
  return table;
}

StageTable<double> forward_walks(const ProfiledGraph& graph, const Transfer& transfer) {
  const std::size_t n = graph.layers.size();
  std::vector<std::vector<std::pair<std::size_t, double>>> inputs(n);
  for (const ProfiledEdge& edge : graph.edges) inputs[edge.to].emplace_back(edge.from, transfer(edge.bytes));
  StageTable<double> table(n);
  std::vector<double> finish(n);
  for (std::size_t first = 0; first < n; ++first) {
    double latest = 0;
    for (std::size_t v = first; v < n; ++v) {
      double begin = 0;
      for (const auto& [from, seconds] : inputs[v]) begin = std::max(begin, from >= first ? finish[from] : seconds);
      finish[v] = begin + graph.layers[v].forward_s;
      latest = std::max(latest, finish[v]);
      table(first, v) = latest;
    }
  }
  return table;
}

StageTable<double> backward_walks(const ProfiledGraph& graph, const Transfer& transfer) {
  const std::size_t n = graph.layers.size();
  std::vector<std::vector<std::pair<std::size_t, double>>> outputs(n);
  for (const ProfiledEdge& edge : graph.edges) outputs[edge.from].emplace_back(edge.to, transfer(edge.bytes));
  StageTable<double> table(n);
  std::vector<double> finish(n);
  for (std::size_t last = 0; last < n; ++last) {
    double latest = 0;
    for (std::size_t v = last + 1; v-- > 0;) {
      double begin = 0;
      for (const auto& [to, seconds] : outputs[v]) begin = std::max(begin, to <= last ? finish[to] : seconds);
      finish[v] = begin + graph.layers[v].backward_s;
      latest = std::max(latest, finish[v]);
      table(v, last) = latest;
    }
  }
  return table;
}

}  // namespace tandem
