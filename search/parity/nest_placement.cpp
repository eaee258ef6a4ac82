// SPDX-License-Identifier: Apache-2.0
#include "search/parity/nest_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "arch/support/quantity.h"

namespace tandem {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kLevels = 3;

/// The level of the device tree at which two devices meet.
std::size_t meeting_level(const NestInstance& instance, std::int64_t a, std::int64_t b) {
  std::int64_t group = 1;
  for (std::size_t level = 0; level + 1 < kLevels; ++level) {
    group *= instance.levels[level].fan_out;
    if (a / group == b / group) return level;
  }
  return kLevels - 1;
}

/// A message between stages that meet at `level`: up and down again above the first, never faster than inside.
double transfer(const NestInstance& instance, std::size_t level, double bytes) {
  double bandwidth = instance.levels[0].bandwidth;
  for (std::size_t l = 1; l <= level; ++l) bandwidth = std::min(bandwidth, instance.levels[l].bandwidth);
  const double once = bytes / bandwidth + instance.levels[level].latency;
  return level == 0 ? once : 2 * once;
}

/// Gradient exchange of `bytes` over `replicas` whose first stages are `stride` devices apart: halving-doubling priced
/// at the innermost level, and for every level up to where they meet two whole transfers on top of all that came
/// before.
double exchange(const NestInstance& instance, double bytes, std::int64_t replicas, std::int64_t stride) {
  if (replicas == 1) return 0;
  const auto& levels = instance.levels;
  double inner = 0;
  const auto rounds = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(replicas))) - 1;
  for (int i = 0; i < rounds; ++i) {
    inner += levels[0].latency + bytes / (static_cast<double>(std::int64_t{1} << i) * levels[0].bandwidth);
  }
  const std::size_t meet = meeting_level(instance, 0, (replicas - 1) * stride);
  double total = inner, carry = inner;
  for (std::size_t level = 1; level <= meet; ++level) {
    const double both_ways = 2 * (levels[level].latency + bytes / levels[level].bandwidth);
    total += both_ways + carry;
    carry = both_ways;
  }
  return total;
}

struct Best {
  double time = kNever;
  std::size_t graph = 0, stages = 0, cut = 0;
  std::int64_t data_parallel = 1;
};

class Solver {
 public:
  Solver(const NestInstance& instance, std::size_t graph)
      : instance_(&instance),
        index_(graph),
        graph_(&instance.graphs[graph]),
        n_(graph_->layers.size()),
        width_(graph_->tensor_parallel * instance.expert_parallel * instance.context_parallel),
        most_stages_(std::min(n_, static_cast<std::size_t>(instance.devices / width_))),
        sums_(stage_sums(*graph_)),
        path_(backward_walks(*graph_, [](double) { return 0.0; })),
        suffixes_((n_ + 1) * (most_stages_ + 1)) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      const Transfer over = [&, level](double bytes) { return transfer(instance, level, bytes); };
      forward_.push_back(forward_walks(*graph_, over));
      backward_.push_back(backward_walks(*graph_, over));
    }
    suffix(n_, 0).load = 0;
    for (std::size_t first = n_; first-- > 1;) place(first);
  }

  [[nodiscard]] std::size_t graph() const { return index_; }

  void close(Best& best) const {
    for (std::size_t cut = 1; cut <= n_; ++cut) {
      for (std::size_t stages = 1; stages <= most_stages_ && fits(0, cut, stages); ++stages) {
        const double after = suffix(cut, stages - 1).load;
        if (after != kNever) spread(best, std::max(after, load(0, cut, stages)), stages, cut);
      }
    }
  }

  [[nodiscard]] ParityPlan plan(const Best& best) const {
    ParityPlan plan;
    plan.feasible = true;
    plan.time = best.time;
    plan.tensor_parallel = graph_->tensor_parallel;
    plan.data_parallel = best.data_parallel;
    std::size_t first = 0, cut = best.cut;
    for (std::size_t from_end = best.stages; from_end > 0; --from_end) {
      ParityStage stage;
      for (std::size_t v = first; v < cut; ++v) stage.layers.push_back(graph_->layers[v].id);
      stage.load = load(first, cut, from_end);
      stage.memory_bytes = memory(first, cut, from_end);
      stage.devices = width_;
      plan.stages.push_back(std::move(stage));
      first = cut;
      cut = suffix(first, from_end - 1).cut;
    }
    return plan;
  }

 private:
  struct State {
    double load = kNever;
    std::size_t cut = 0;
  };
  [[nodiscard]] State& suffix(std::size_t first, std::size_t stages) {
    return suffixes_[first * (most_stages_ + 1) + stages];
  }
  [[nodiscard]] const State& suffix(std::size_t first, std::size_t stages) const {
    return suffixes_[first * (most_stages_ + 1) + stages];
  }
  [[nodiscard]] double memory(std::size_t first, std::size_t cut, std::size_t from_end) const {
    const StageSums& sums = sums_(first, cut - 1);
    const double stash = instance_->recompute ? sums.entering : sums.activations;
    return 2 * sums.parameters + sums.activations + static_cast<double>(from_end - 1) * stash;
  }
  [[nodiscard]] bool fits(std::size_t first, std::size_t cut, std::size_t from_end) const {
    return memory(first, cut, from_end) <= instance_->memory_bytes;
  }
  /// The level between the `from_end`-th stage from the end and the one that follows it.
  [[nodiscard]] std::size_t level_after(std::size_t from_end) const {
    const std::int64_t boundary = static_cast<std::int64_t>(from_end - 1) * width_;
    return from_end == 1 ? 0 : meeting_level(*instance_, boundary - 1, boundary);
  }
  /// With recompute the forward is charged again at the backward's cost.
  [[nodiscard]] double load(std::size_t first, std::size_t cut, std::size_t from_end) const {
    const std::size_t last = cut - 1;
    const std::size_t upstream = first == 0 ? 0 : level_after(from_end + 1);
    const double forward = forward_[upstream](first, last);
    const double backward = backward_[level_after(from_end)](first, last);
    if (!instance_->recompute || from_end == 1) return forward + backward;
    return forward + std::max(backward, sums_(first, last).backward_s + path_(first, last));
  }

  void place(std::size_t first) {
    for (std::size_t cut = first + 1; cut <= n_; ++cut) {
      for (std::size_t stages = 1; stages <= most_stages_ && fits(first, cut, stages); ++stages) {
        const double after = suffix(cut, stages - 1).load;
        if (after == kNever) continue;
        const double worst = std::max(after, load(first, cut, stages));
        if (worst < suffix(first, stages).load) suffix(first, stages) = {worst, cut};
      }
    }
  }

  void spread(Best& best, double load, std::size_t stages, std::size_t cut) const {
    const std::int64_t pipeline = static_cast<std::int64_t>(stages) * width_;
    const std::int64_t most = std::min(instance_->devices / pipeline, instance_->microbatches);
    const double parameters = sums_(0, cut - 1).parameters;
    for (std::int64_t d = 1; d <= most; ++d) {
      const std::int64_t steps = ceil_div(instance_->microbatches, d) + static_cast<std::int64_t>(stages) - 1;
      const double time = load * static_cast<double>(steps);
      if (time >= best.time) continue;
      const double whole = time + exchange(*instance_, parameters, d, pipeline);
      if (whole < best.time) best = {whole, index_, stages, cut, d};
    }
  }

  const NestInstance* instance_;
  std::size_t index_;
  const ProfiledGraph* graph_;
  std::size_t n_;
  std::int64_t width_;
  std::size_t most_stages_;
  StageTable<StageSums> sums_;
  StageTable<double> path_;
  std::vector<StageTable<double>> forward_, backward_;  ///< by level
  std::vector<State> suffixes_;
};

ParityPlan infeasible(const NestInstance& instance) {
  ParityPlan plan;
  plan.worst_layer_bytes = kNever;
  for (const ProfiledGraph& graph : instance.graphs) {
    const auto needs = [](const ProfiledLayer& layer) { return 2 * layer.parameter_bytes + layer.activation_bytes; };
    const auto worst = std::max_element(graph.layers.begin(), graph.layers.end(),
                                        [&](const auto& a, const auto& b) { return needs(a) < needs(b); });
    if (needs(*worst) < plan.worst_layer_bytes) plan.worst_layer = worst->id, plan.worst_layer_bytes = needs(*worst);
  }
  return plan;
}

}  // namespace

NestInstance load_nest_instance(const std::filesystem::path& path) {
  ConfigFile file(path);
  const ConfigSection root = file.root();
  NestInstance instance;
  instance.memory_bytes = root.get<double>("maxMemoryPerDevice", not_negative);
  instance.devices = root.get<std::int64_t>("maxDevices", positive);
  instance.microbatches = root.get<std::int64_t>("mbsInBatch", positive);
  instance.expert_parallel = root.get_or<std::int64_t>("ep_degree", 1, positive);
  instance.context_parallel = root.get_or<std::int64_t>("cp_degree", 1, positive);
  instance.recompute = root.get<bool>("activationRecomputation");
  const auto optimizer = root.get_or<std::string>("optimizerAlgorithm", "SGD");
  if (optimizer != "SGD") {
    root.complain("optimizerAlgorithm", fmt::format("optimizer '{}' has no memory formula here", optimizer), "SGD");
  }
  const auto fan_out = root.list<std::int64_t>("devices_per_level", positive);
  const auto bandwidth = root.list<double>("bws", positive);
  const auto latency = root.list<double>("latency_per_level", not_negative);
  if (fan_out.size() != kLevels || bandwidth.size() != kLevels || latency.size() != kLevels) {
    root.complain(
        "devices_per_level",
        fmt::format("{} fan-outs, {} bandwidths, {} latencies", fan_out.size(), bandwidth.size(), latency.size()),
        "three of each");
  } else {
    for (std::size_t level = 0; level < kLevels; ++level) {
      instance.levels.push_back({fan_out[level], bandwidth[level], latency[level]});
    }
  }
  instance.graphs = read_profiled_graphs(root);
  file.finish_allowing_unknown();
  return instance;
}

ParityPlan solve_nest(const NestInstance& instance) {
  Best best;
  std::vector<Solver> solvers;
  solvers.reserve(instance.graphs.size());
  for (std::size_t graph = 0; graph < instance.graphs.size(); ++graph) {
    if (instance.graphs[graph].tensor_parallel * instance.expert_parallel * instance.context_parallel >
        instance.devices) {
      continue;
    }
    solvers.emplace_back(instance, graph);
    solvers.back().close(best);
  }
  if (best.time == kNever) return infeasible(instance);
  const auto chosen =
      std::find_if(solvers.begin(), solvers.end(), [&](const Solver& s) { return s.graph() == best.graph; });
  return chosen->plan(best);
}

}  // namespace tandem
