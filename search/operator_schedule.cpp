// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "search/mapper.h"
#include "search/predict.h"

namespace tandem {
namespace {

/// When each core is free: tensor cores, then vector cores.
class Cores {
 public:
  explicit Cores(const Chip& chip)
      : vector_(static_cast<std::size_t>(chip.tensor.count)),
        free_at_(static_cast<std::size_t>(chip.tensor.count + chip.vector.count)) {}

  [[nodiscard]] Seconds free_at(const Mapping& mapping) const {
    Seconds latest{};
    each(mapping, [&](std::size_t core) { latest = std::max(latest, free_at_[core]); });
    return latest;
  }
  void occupy(const Mapping& mapping, Seconds until) {
    each(mapping, [&](std::size_t core) { free_at_[core] = until; });
  }

 private:
  template <typename F>
  void each(const Mapping& mapping, F&& act) const {
    for (std::int64_t i = 0; i < mapping.tensor_cores.count; ++i) {
      act(static_cast<std::size_t>(mapping.tensor_cores.first + i));
    }
    for (std::int64_t i = 0; i < mapping.vector_cores.count; ++i) {
      act(vector_ + static_cast<std::size_t>(mapping.vector_cores.first + i));
    }
  }

  std::size_t vector_;
  std::vector<Seconds> free_at_;
};

/// Longest way from an operator's start to the end of the graph.
std::vector<Seconds> ways_to_end(const OperatorGraph& graph, const std::vector<Seconds>& time) {
  std::vector<Seconds> way = time;
  std::vector<std::vector<std::int32_t>> successors(graph.operators.size());
  for (const auto& edge : graph.edges) successors[static_cast<std::size_t>(edge.from)].push_back(edge.to);
  for (std::size_t i = graph.operators.size(); i-- > 0;) {
    for (const std::int32_t next : successors[i]) {
      way[i] = std::max(way[i], time[i] + way[static_cast<std::size_t>(next)]);
    }
  }
  return way;
}

/// Work of all operators, in core-time, over the cores there are.
Seconds area_bound(const Chip& chip, std::span<const Mapping> mappings, const std::vector<Seconds>& time) {
  Seconds tensor{};
  Seconds vector{};
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    tensor += time[i] * static_cast<double>(mappings[i].tensor_cores.count);
    vector += time[i] * static_cast<double>(mappings[i].vector_cores.count);
  }
  const auto over = [](Seconds work, std::int64_t cores) {
    return cores > 0 ? work / static_cast<double>(cores) : Seconds(0);
  };
  return std::max(over(tensor, chip.tensor.count), over(vector, chip.vector.count));
}

}  // namespace

OperatorSchedule schedule_operators(const Chip& chip, const OperatorGraph& graph, std::span<const Mapping> mappings) {
  const std::size_t n = graph.operators.size();
  if (mappings.size() != n) throw std::invalid_argument("schedule_operators: one mapping per operator");
  std::vector<Seconds> time(n);
  for (std::size_t i = 0; i < n; ++i) {
    time[i] = to_seconds(predict_operator(chip, graph.operators[i], mappings[i]).time);
  }
  const std::vector<Seconds> way = ways_to_end(graph, time);
  const auto predecessors = graph.predecessors();

  OperatorSchedule schedule;
  schedule.start.resize(n);
  Cores cores(chip);
  std::vector<Seconds> end(n);
  std::vector<bool> done(n, false);
  for (std::size_t placed = 0; placed < n; ++placed) {
    // The operator that can start first; of those the one with the longest way to go, then the first in the graph.
    std::size_t best = n;
    Seconds best_start{};
    for (std::size_t i = 0; i < n; ++i) {
      if (done[i]) continue;
      Seconds start = cores.free_at(mappings[i]);
      bool ready = true;
      for (const std::int32_t before : predecessors[i]) {
        ready = ready && done[static_cast<std::size_t>(before)];
        start = std::max(start, end[static_cast<std::size_t>(before)]);
      }
      if (!ready) continue;
      if (best == n || start < best_start || (start == best_start && way[i] > way[best])) {
        best = i;
        best_start = start;
      }
    }
    done[best] = true;
    schedule.order.push_back(static_cast<std::int32_t>(best));
    schedule.start[best] = best_start;
    end[best] = best_start + time[best];
    cores.occupy(mappings[best], end[best]);
    schedule.makespan = std::max(schedule.makespan, end[best]);
  }
  const Seconds critical_path = n > 0 ? *std::max_element(way.begin(), way.end()) : Seconds(0);
  schedule.lower_bound = std::min(schedule.makespan, std::max(critical_path, area_bound(chip, mappings, time)));
  return schedule;
}

}  // namespace tandem
