// SPDX-License-Identifier: Apache-2.0
// schedule_on_cores for every compute graph of a layer of every shipped model, forward and backward, on chips of 1 to
// 4096 cores of each kind: time to solve and proven gap. `schedule_bench [MODEL...]`
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "arch/config.h"
#include "arch/support/error.h"
#include "search/core_schedule.h"
#include "search/mapper.h"
#include "search/predict.h"
#include "workloads/model.h"
#include "workloads/program.h"

namespace tandem {
namespace {

constexpr std::int64_t kCores[] = {1, 4, 16, 64, 256, 1024, 4096};

struct Measured {
  std::vector<double> milliseconds;
  double worst_gap = 0;
  std::size_t proven = 0, graphs = 0, largest = 0;
};

CoreUse use_of(const Operator& op) {
  if (!is_matmul(op.kind)) return CoreUse::vector;
  return op.epilogue.empty() ? CoreUse::tensor : CoreUse::fused;
}

double time_on(const Chip& chip, const Operator& op, std::int64_t tensor, std::int64_t vector) {
  const Mapping mapping = map_operator(chip, op, {0, tensor}, {0, vector});
  return to_seconds(predict_operator(chip, op, mapping).time).count();
}

CoreProblem problem_of(const Chip& chip, const OperatorGraph& graph) {
  CoreProblem problem;
  problem.tensor_cores = chip.tensor.count;
  problem.vector_cores = chip.vector.count;
  for (const Operator& op : graph.operators) {
    problem.operators.push_back(
        {use_of(op), time_on(chip, op, 1, 1), time_on(chip, op, chip.tensor.count, chip.vector.count)});
  }
  for (const auto& edge : graph.edges) problem.edges.emplace_back(edge.from, edge.to);
  return problem;
}

void solve(const CoreProblem& problem, Measured& measured) {
  const auto begin = std::chrono::steady_clock::now();
  const CoreSchedule schedule = schedule_on_cores(problem, {.nodes = 20'000, .gap = 0.01});
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  measured.milliseconds.push_back(took.count());
  measured.worst_gap = std::max(measured.worst_gap, schedule.gap());
  measured.proven += schedule.gap() <= 0.01 + 1e-9 ? 1 : 0;
  measured.largest = std::max(measured.largest, problem.operators.size());
  ++measured.graphs;
}

void measure(const std::string& name) {
  const TransformerModel model = load_model(find_config("model", name));
  Plan plan;
  plan.global_batch = 1;
  plan.sequence = std::min<std::int64_t>(2048, model.max_positions);
  const Program program = build_program(model, resolved(plan, model));
  Measured measured;
  for (const std::int64_t tensor : kCores) {
    for (const std::int64_t vector : kCores) {
      Chip chip = load_chip(find_config("chip", "tpu-v4"));
      chip.tensor.count = tensor;
      chip.vector.count = vector;
      chip.vector.lanes = 128;
      for (const Slice& slice : program.slices) solve(problem_of(chip, slice.graph), measured);
    }
  }
  std::sort(measured.milliseconds.begin(), measured.milliseconds.end());
  fmt::print(
      "{}: {} graphs of up to {} operators, {} within 1 %, worst gap {:.2f} %, median {:.3f} ms, worst {:.1f} ms\n",
      name, measured.graphs, measured.largest, measured.proven, measured.worst_gap * 100,
      measured.milliseconds[measured.milliseconds.size() / 2], measured.milliseconds.back());
}

}  // namespace
}  // namespace tandem

int main(int count, char** arguments) {
  std::vector<std::string> models(arguments + 1, arguments + count);
  if (models.empty()) {
    models = {"bert-large", "gpt2-xl",       "gpt3-175b",    "llama2-7b",
              "llama3-70b", "megatron-8.3b", "mixtral-8x7b", "opt-1.3b"};
  }
  try {
    for (const std::string& model : models) tandem::measure(model);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
