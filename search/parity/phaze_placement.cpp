// SPDX-License-Identifier: Apache-2.0
#include "search/parity/phaze_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "arch/support/quantity.h"

namespace tandem {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool mixed_widths(const ProfiledGraph& graph) {
  return std::any_of(graph.layers.begin(), graph.layers.end(), [&](const ProfiledLayer& layer) {
    return layer.tensor_parallel != graph.layers.front().tensor_parallel;
  });
}

/// What a stage costs, whatever stands around it.
struct Costs {
  StageTable<StageSums> sums;
  StageTable<double> forward, forward_again, backward, path;

  Costs(const ProfiledGraph& graph, double bandwidth)
      : sums(stage_sums(graph)),
        forward(forward_walks(graph, [=](double bytes) { return bytes / bandwidth; })),
        forward_again(forward_walks(graph, [](double) { return 0.0; })),
        backward(backward_walks(graph, [=](double bytes) { return bytes / bandwidth; })),
        path(backward_walks(graph, [](double) { return 0.0; })) {}
};

/// Least maximum load of placing the layers from `first` on, by stages and wide stages, with the way there.
class Suffixes {
 public:
  Suffixes(std::size_t layers, std::size_t stages, std::size_t wide_states)
      : stages_(stages), wide_(wide_states), states_((layers + 1) * (stages + 1) * wide_states) {
    at(layers, 0, 0).load = 0;
  }
  struct State {
    double load = kNever;
    std::size_t cut = 0;  ///< first layer of the next stage
  };
  [[nodiscard]] State& at(std::size_t first, std::size_t stages, std::size_t wide) {
    return states_[(first * (stages_ + 1) + stages) * wide_ + wide];
  }
  [[nodiscard]] const State& at(std::size_t first, std::size_t stages, std::size_t wide) const {
    return states_[(first * (stages_ + 1) + stages) * wide_ + wide];
  }

 private:
  std::size_t stages_, wide_;
  std::vector<State> states_;
};

struct Best {
  double time = kNever;
  std::size_t graph = 0, stages = 0, cut = 0, wide_after = 0;
  std::int64_t data_parallel = 1;
};

class Solver {
 public:
  Solver(const PhazeInstance& instance, std::size_t graph)
      : instance_(&instance),
        index_(graph),
        graph_(&instance.graphs[graph]),
        n_(graph_->layers.size()),
        costs_(*graph_, instance.bandwidth),
        mixed_(mixed_widths(*graph_)),
        most_stages_(std::min(n_, static_cast<std::size_t>(instance.devices))),
        wide_states_(mixed_ ? most_stages_ + 1 : 1),
        suffixes_(n_, most_stages_, wide_states_) {
    for (std::size_t first = n_; first-- > 1;) place(first);
  }

  /// Tries every first stage before the placed suffixes.
  void close(Best& best) const {
    for (std::size_t cut = 1; cut <= n_; ++cut) {
      for (std::size_t stages = 1; stages <= most_stages_ && fits(0, cut, stages); ++stages) {
        for (std::size_t wide = 0; wide < wide_states_; ++wide) {
          const double after = suffixes_.at(cut, stages - 1, wide).load;
          if (after != kNever) spread(best, std::max(after, load(0, cut, stages)), stages, cut, wide);
        }
      }
    }
  }

  [[nodiscard]] ParityPlan plan(const Best& best) const {
    ParityPlan plan;
    plan.feasible = true;
    plan.time = best.time;
    plan.tensor_parallel = graph_->tensor_parallel;
    plan.data_parallel = best.data_parallel;
    std::size_t first = 0, cut = best.cut, wide = best.wide_after;
    for (std::size_t from_end = best.stages; from_end > 0; --from_end) {
      ParityStage stage;
      for (std::size_t v = first; v < cut; ++v) stage.layers.push_back(graph_->layers[v].id);
      stage.load = load(first, cut, from_end);
      stage.memory_bytes = memory(first, cut, from_end);
      stage.devices = costs_.sums(first, cut - 1).wide ? graph_->tensor_parallel : 1;
      plan.stages.push_back(std::move(stage));
      if (from_end == 1) break;
      first = cut;
      cut = suffixes_.at(first, from_end - 1, wide).cut;
      wide -= more_wide(first, cut);
    }
    return plan;
  }

 private:
  // A stage is the layers [first, cut), the `from_end`-th from the end.
  [[nodiscard]] double memory(std::size_t first, std::size_t cut, std::size_t from_end) const {
    const StageSums& sums = costs_.sums(first, cut - 1);
    const double stash = instance_->recompute ? sums.entering : sums.activations;
    return (instance_->adam ? 3 : 2) * sums.parameters + sums.activations + static_cast<double>(from_end - 1) * stash;
  }
  [[nodiscard]] bool fits(std::size_t first, std::size_t cut, std::size_t from_end) const {
    return memory(first, cut, from_end) <= instance_->memory_bytes;
  }
  /// After a forward recomputed in time R every layer starts at R or later, so the backward walk ends at the later of
  /// the plain one and R plus the longest path inside the stage.
  [[nodiscard]] double load(std::size_t first, std::size_t cut, std::size_t from_end) const {
    const std::size_t last = cut - 1;
    const double backward = costs_.backward(first, last);
    if (!instance_->recompute || from_end == 1) return costs_.forward(first, last) + backward;
    return costs_.forward(first, last) +
           std::max(backward, costs_.forward_again(first, last) + costs_.path(first, last));
  }
  [[nodiscard]] std::size_t more_wide(std::size_t first, std::size_t cut) const {
    return mixed_ && costs_.sums(first, cut - 1).wide ? 1 : 0;
  }
  [[nodiscard]] std::int64_t devices(std::size_t stages, std::size_t wide) const {
    if (!mixed_) wide = graph_->layers.front().tensor_parallel ? stages : 0;
    return static_cast<std::int64_t>(stages - wide) + static_cast<std::int64_t>(wide) * graph_->tensor_parallel;
  }

  void place(std::size_t first) {
    for (std::size_t cut = first + 1; cut <= n_; ++cut) {
      const std::size_t more = more_wide(first, cut);
      for (std::size_t stages = 1; stages <= most_stages_ && fits(first, cut, stages); ++stages) {
        for (std::size_t wide = 0; wide + more < wide_states_; ++wide) {
          const double after = suffixes_.at(cut, stages - 1, wide).load;
          if (after == kNever || devices(stages, wide + more) > instance_->devices) continue;
          const double worst = std::max(after, load(first, cut, stages));
          Suffixes::State& state = suffixes_.at(first, stages, wide + more);
          if (worst < state.load) state = {worst, cut};
        }
      }
    }
  }

  /// Tries data-parallel degrees: of those with the same number of steps only the smallest can be best.
  void spread(Best& best, double load, std::size_t stages, std::size_t cut, std::size_t wide) const {
    const std::int64_t n = instance_->microbatches;
    const std::int64_t most = std::min(instance_->devices / devices(stages, wide + more_wide(0, cut)), n);
    const double parameters = costs_.sums(0, cut - 1).parameters;
    for (std::int64_t d = 1; d <= most;) {
      const std::int64_t steps = ceil_div(n, d);
      const double exchange =
          4.0 * static_cast<double>(d - 1) / static_cast<double>(d) * parameters / instance_->bandwidth;
      const double time = load * static_cast<double>(steps + static_cast<std::int64_t>(stages) - 1) + exchange;
      if (time < best.time) best = {time, index_, stages, cut, wide, d};
      if (steps == 1) break;
      d = ceil_div(n, steps - 1);
    }
  }

  const PhazeInstance* instance_;
  std::size_t index_;
  const ProfiledGraph* graph_;
  std::size_t n_;
  Costs costs_;
  bool mixed_;
  std::size_t most_stages_, wide_states_;
  Suffixes suffixes_;
};

/// The layer that needs most on its own as a last stage, at the width where that is least.
ParityPlan infeasible(const PhazeInstance& instance) {
  ParityPlan plan;
  plan.worst_layer_bytes = kNever;
  for (const ProfiledGraph& graph : instance.graphs) {
    const auto needs = [&](const ProfiledLayer& layer) {
      return (instance.adam ? 3 : 2) * layer.parameter_bytes + layer.activation_bytes;
    };
    const auto worst = std::max_element(graph.layers.begin(), graph.layers.end(),
                                        [&](const auto& a, const auto& b) { return needs(a) < needs(b); });
    if (needs(*worst) < plan.worst_layer_bytes) plan.worst_layer = worst->id, plan.worst_layer_bytes = needs(*worst);
  }
  return plan;
}

}  // namespace

PhazeInstance load_phaze_instance(const std::filesystem::path& path) {
  ConfigFile file(path);
  const ConfigSection root = file.root();
  PhazeInstance instance;
  instance.memory_bytes = root.get<double>("maxMemoryPerDevice", not_negative);
  instance.devices = root.get<std::int64_t>("maxDevices", positive);
  instance.bandwidth = root.get<double>("bandwidth", positive);
  instance.microbatches = root.get<std::int64_t>("mbsInBatch", positive);
  instance.recompute = root.get<bool>("activationRecomputation");
  const auto optimizer = root.get<std::string>("optimizerAlgorithm");
  if (optimizer != "Adam" && optimizer != "SGD") {
    root.complain("optimizerAlgorithm", fmt::format("unknown optimizer '{}'", optimizer), "Adam or SGD");
  }
  instance.adam = optimizer == "Adam";
  instance.graphs = read_profiled_graphs(root);
  file.finish_allowing_unknown();
  return instance;
}

ParityPlan solve_phaze(const PhazeInstance& instance) {
  Best best;
  std::vector<Solver> solvers;
  solvers.reserve(instance.graphs.size());
  for (std::size_t graph = 0; graph < instance.graphs.size(); ++graph) {
    solvers.emplace_back(instance, graph);
    solvers.back().close(best);
  }
  return best.time == kNever ? infeasible(instance) : solvers[best.graph].plan(best);
}

}  // namespace tandem
