// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "workloads/operator_graph.h"

namespace tandem {

bool is_element_wise(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::gelu:
    case OperatorKind::relu:
    case OperatorKind::silu_mul:
    case OperatorKind::bias_add:
    case OperatorKind::residual_add:
    case OperatorKind::rotary:
    case OperatorKind::dropout:
    case OperatorKind::scale_mask: return true;
    default: return false;
  }
}

namespace {

using Index = std::int32_t;

/// A weight gradient sums over rows, so it cannot ride on a tile.
bool can_ride(const Operator& op) {
  return is_element_wise(op.kind) && op.pass != Pass::backward_weight && op.epilogue.empty() && !op.outputs.empty();
}

Bytes hbm_total(const std::vector<Operand>& operands, std::size_t first = 0) {
  Bytes sum{};
  for (std::size_t i = first; i < operands.size(); ++i) {
    if (operands[i].where == Residency::hbm) sum += operands[i].bytes;
  }
  return sum;
}

Bytes total(const std::vector<Operand>& operands) {
  Bytes sum{};
  for (const Operand& operand : operands) {
    if (!operand.weight) sum += operand.bytes;
  }
  return sum;
}

/// Appends `rider` to the epilogue of `host`, whose output becomes the rider's.
void ride(Operator& host, const Operator& rider) {
  const Operand between = host.outputs.front();
  FusedWork work{rider.kind, rider.pass, rider.vector, hbm_total(rider.inputs), hbm_total(rider.outputs, 1)};
  if (between.where == Residency::hbm) {
    work.extra_read -= between.bytes;
    if (between.stashed) work.extra_write += between.bytes;
  }
  host.epilogue.push_back(work);
  host.outputs.front() = rider.outputs.front();
}

/// Which operator of the old graph each one rides on (itself if on none).
class Fusion {
 public:
  explicit Fusion(const OperatorGraph& graph) : fused_(graph), host_(graph.operators.size()) {
    successors_.resize(host_.size());
    predecessors_.resize(host_.size());
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = static_cast<Index>(i);
    for (const auto& [from, to] : graph.edges) {
      successors_[at(from)].insert(to);
      predecessors_[at(to)].insert(from);
    }
  }

  OperatorGraph run() {
    for (Index i = 0; i < static_cast<Index>(host_.size()); ++i) {
      if (const auto host = host_for(i)) merge(*host, i);
    }
    return compact();
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  /// The operator that `rider` may join: it feeds the rider alone, and whatever else the rider waits for stands before
  /// it, so that joining creates no cycle.
  [[nodiscard]] std::optional<Index> host_for(Index rider) const {
    const Operator& op = fused_.operators[at(rider)];
    if (!can_ride(op) || predecessors_[at(rider)].empty()) return std::nullopt;
    const Index host = *predecessors_[at(rider)].rbegin();
    const Operator& feeder = fused_.operators[at(host)];
    const bool kind_fits = is_matmul(feeder.kind) || is_element_wise(feeder.kind);
    if (!kind_fits || feeder.pass == Pass::backward_weight || feeder.outputs.empty()) return std::nullopt;
    // Results beside the main one must be side results (a mask), not a second part of what the rider reads.
    const auto side = [](const Operand& operand) { return operand.stashed; };
    if (!std::all_of(feeder.outputs.begin() + 1, feeder.outputs.end(), side)) return std::nullopt;
    if (successors_[at(host)].size() != 1) return std::nullopt;
    // A rider that reads a part of the output alone (rotary: queries and keys) leaves the rest to others.
    if (total(op.inputs) < feeder.outputs.front().bytes) return std::nullopt;
    return host;
  }

  void merge(Index host, Index rider) {
    ride(fused_.operators[at(host)], fused_.operators[at(rider)]);
    host_[at(rider)] = host;
    successors_[at(host)] = successors_[at(rider)];
    for (const Index next : successors_[at(rider)]) {
      predecessors_[at(next)].erase(rider);
      predecessors_[at(next)].insert(host);
    }
    for (const Index before : predecessors_[at(rider)]) {
      if (before == host) continue;
      successors_[at(before)].erase(rider);
      successors_[at(before)].insert(host);
      predecessors_[at(host)].insert(before);
    }
  }

  [[nodiscard]] OperatorGraph compact() const {
    OperatorGraph result;
    std::vector<Index> position(host_.size(), -1);
    for (Index i = 0; i < static_cast<Index>(host_.size()); ++i) {
      if (host_[at(i)] != i) continue;
      std::vector<Index> after;
      for (const Index before : predecessors_[at(i)]) after.push_back(position[at(before)]);
      position[at(i)] = result.add(fused_.operators[at(i)], after);
    }
    return result;
  }

  OperatorGraph fused_;
  std::vector<Index> host_;
  std::vector<std::set<Index>> successors_, predecessors_;
};

}  // namespace

OperatorGraph fuse(const OperatorGraph& graph) {
  validate(graph);
  return Fusion(graph).run();
}

}  // namespace tandem
