// SPDX-License-Identifier: Apache-2.0
// Layer graphs with times measured elsewhere, as the placement solvers of PHAZE and NEST read them, and how long a
// contiguous stage of such a graph takes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "arch/support/config_reader.h"

namespace tandem {

struct ProfiledLayer {
  std::int64_t id = 0;
  double parameter_bytes = 0, activation_bytes = 0;
  double forward_s = 0, backward_s = 0;
  bool tensor_parallel = false;
};

struct ProfiledEdge {
  std::size_t from = 0, to = 0;  ///< positions in `layers`, from < to
  double bytes = 0;
};

/// The layers as they are at one tensor-parallel width, in topological order (ties by position in the file).
struct ProfiledGraph {
  std::int64_t tensor_parallel = 1;
  std::vector<ProfiledLayer> layers;
  std::vector<ProfiledEdge> edges;
};

/// The members `nodes` and `edges` of the solvers' JSON, by width. Complains in the file about cycles, unknown or
/// repeated ids, negative sizes.
std::vector<ProfiledGraph> read_profiled_graphs(const ConfigSection& root);

/// Sums over the layers of every stage [first, last], both included.
struct StageSums {
  double parameters = 0, activations = 0;
  double entering = 0;  ///< bytes of edges from outside
  double backward_s = 0;
  bool wide = false;  ///< holds a tensor-parallel layer
};

/// A value for every contiguous stage.
template <typename T>
class StageTable {
 public:
  explicit StageTable(std::size_t layers) : n_(layers), values_(layers * layers) {}
  [[nodiscard]] T& operator()(std::size_t first, std::size_t last) { return values_[first * n_ + last]; }
  [[nodiscard]] const T& operator()(std::size_t first, std::size_t last) const { return values_[first * n_ + last]; }

 private:
  std::size_t n_;
  std::vector<T> values_;
};

StageTable<StageSums> stage_sums(const ProfiledGraph& graph);

using Transfer = std::function<double(double bytes)>;  ///< seconds; zero for a walk that waits for nothing outside

/// When the last layer of each stage ends if layers start as soon as their inputs are there: those from inside the
/// stage when computed, those from outside when transferred (which begins at time 0). O(n^2) for a chain.
StageTable<double> forward_walks(const ProfiledGraph& graph, const Transfer& transfer);
/// The same over reversed edges with backward times.
StageTable<double> backward_walks(const ProfiledGraph& graph, const Transfer& transfer);

}  // namespace tandem
