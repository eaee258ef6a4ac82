// SPDX-License-Identifier: Apache-2.0
#include "search/operator_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "search/hbm_rate.h"
#include "search/map_kinds.h"
#include "workloads/mapping.h"

namespace tandem {
namespace {

// Sums of unrounded times in another order.
constexpr double kRounding = 1e-9;

double bytes_of(const std::vector<Operand>& operands, std::size_t index) {
  return index < operands.size() ? static_cast<double>(operands[index].bytes.value()) : 0.0;
}

bool is_in(const std::vector<Operand>& operands, std::size_t index, Residency where) {
  return index < operands.size() && operands[index].where == where;
}

/// Of m x n x k, the share whose work a causal mask leaves.
double needed_work(const Operator& op) {
  const MatmulShape& shape = op.matmul;
  const double all = 2.0 * static_cast<double>(checked_product(shape.batch, shape.m, shape.n, shape.k));
  return static_cast<double>(op.matmul_flops().value()) / all;
}

Seconds stream_time(const Chip& chip, const Operator& op) {
  const TensorCores& cores = chip.tensor;
  const auto rate = cores.macs_per_pe.find(op.dtype);
  if (rate == cores.macs_per_pe.end()) return Seconds(0);  // the mapper says so
  const MatmulShape& shape = op.matmul;
  const auto folds = [&](std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(ceil_div(rows, cores.rows)) * static_cast<double>(ceil_div(cols, cores.cols));
  };
  double cycles = static_cast<double>(shape.batch) * needed_work(op) / rate->second;
  switch (cores.dataflow) {
    case Dataflow::weight_stationary: cycles *= folds(shape.k, shape.n) * static_cast<double>(shape.m); break;
    case Dataflow::input_stationary: cycles *= folds(shape.k, shape.m) * static_cast<double>(shape.n); break;
    case Dataflow::output_stationary: cycles *= folds(shape.m, shape.n) * static_cast<double>(shape.k); break;
  }
  return Seconds(cycles / static_cast<double>(cores.count * cores.arrays) / chip.tensor_clock().value());
}

/// Bytes read from HBM for A and B.
double least_reads(const Chip& chip, const Operator& op) {
  const double a = is_in(op.inputs, 0, Residency::hbm) ? bytes_of(op.inputs, 0) : 0;
  const double b = is_in(op.inputs, 1, Residency::hbm) ? bytes_of(op.inputs, 1) : 0;
  // A mask may leave blocks out.
  if (op.causal) return a + b;
  const MatmulShape& shape = op.matmul;
  const auto element = static_cast<double>(size_of(op.dtype).value());
  const auto buffer = static_cast<double>(chip.glb.capacity.value());
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  // A panel of an operand that takes no room in the buffer may be the whole.
  const double a_panels = is_in(op.inputs, 0, Residency::hbm) ? std::max(1.0, m * k * element / buffer) : 1;
  const double b_panels = is_in(op.inputs, 1, Residency::hbm) ? std::max(1.0, n * k * element / buffer) : 1;
  const double sums =
      (buffer + static_cast<double>(chip.tensor.local_buffer.value()) * static_cast<double>(chip.tensor.count)) /
      static_cast<double>(kPartialSum.value());
  const auto split_k = [&] {
    // a n / bn + b m / bm with bm bn <= sums, bm <= m, bn <= n.
    if (m * n <= sums) return a + b;
    const double best = a > 0 && b > 0 ? std::sqrt(sums * a * n / (b * m)) : n;
    const double bn = std::clamp(best, std::min(n, sums / m), n);
    const double bm = std::min(m, sums / bn);
    return a * n / bn + b * m / bm;
  };
  return std::min({a + b * a_panels, b + a * b_panels, split_k()});
}

Seconds port_time(const Chip& chip, const Operator& op) {
  const double rate = chip.noc.port_bandwidth.value();
  if (rate <= 0) return Seconds(0);
  const MatmulShape& shape = op.matmul;
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const bool loads_a = !is_in(op.inputs, 0, Residency::core);
  const bool loads_b = !is_in(op.inputs, 1, Residency::core);
  const double sums = static_cast<double>(chip.tensor.local_buffer.value()) / static_cast<double>(kPartialSum.value());
  double per_mac = 0;  // elements
  if (loads_a && loads_b) {
    const double tm = std::min({m, std::sqrt(sums)});
    const double tn = std::min(n, sums / tm);
    const double other = std::min(m, sums / tn);
    per_mac = 1 / tn + 1 / other;
  } else if (loads_a) {
    per_mac = 1 / std::min(n, sums);
  } else if (loads_b) {
    per_mac = 1 / std::min(m, sums);
  }
  const double macs = static_cast<double>(op.matmul_flops().value()) / 2;
  const double bytes = macs * per_mac * static_cast<double>(size_of(op.dtype).value());
  return Seconds(bytes / static_cast<double>(chip.tensor.count) / rate);
}

Seconds vector_time(const Chip& chip, const Operator& op) {
  Cycles cycles{};
  if (!is_matmul(op.kind)) cycles += vector_cycles(chip.vector, op.kind, op.pass, op.vector);
  for (const FusedWork& work : op.epilogue) cycles += vector_cycles(chip.vector, work.kind, work.pass, work.shape);
  return cycles / chip.clock / static_cast<double>(std::max<std::int64_t>(1, chip.vector.count));
}

/// Cycles that a tile's folds stream per k of it, at one MAC per PE and cycle. Several arrays split the tile as they
/// like.
double stream_per_k(const TensorCores& cores, const OutputTile& tile) {
  const auto parts = [&](std::int64_t extent, std::int64_t size) {
    return cores.arrays == 1 ? static_cast<double>(ceil_div(extent, size))
                             : static_cast<double>(extent) / static_cast<double>(size);
  };
  const auto rows = static_cast<double>(cores.rows);
  const auto arrays = static_cast<double>(cores.arrays);
  switch (cores.dataflow) {
    case Dataflow::weight_stationary: return static_cast<double>(tile.m) * parts(tile.n, cores.cols) / (rows * arrays);
    case Dataflow::input_stationary: return static_cast<double>(tile.n) * parts(tile.m, cores.cols) / (rows * arrays);
    default: return parts(tile.m, cores.rows) * parts(tile.n, cores.cols) / arrays;
  }
}

/// Time of one tile after the other on one core, per k of them, at least. A tile holds its share of the room from the
/// request until it is computed, fill included; deeper tiles spread latency and fill over more k, but fewer fit at
/// once. None is shorter than the array's rows where two such fit (map_matmul cuts k in whole arrays), nor than a
/// kMostTiles-th of the room.
double tile_time_per_k(const Chip& chip, const Operator& op, double rate, const OutputTile& tile) {
  const TensorCores& cores = chip.tensor;
  const auto element = static_cast<double>(size_of(op.dtype).value());
  const auto m = static_cast<double>(tile.m);
  const auto n = static_cast<double>(tile.n);
  const double room =
      static_cast<double>(cores.local_buffer.value()) - static_cast<double>(kPartialSum.value()) * m * n;
  const double depth = room / (element * (m + n));  // k of all tiles there at once
  if (depth < 1) return std::numeric_limits<double>::infinity();
  const auto rows = static_cast<double>(cores.rows);
  const double shortest = std::min({rows, static_cast<double>(op.matmul.k), depth < 2 ? depth : std::floor(depth / 2)});
  const double least_depth = std::max(shortest, depth / static_cast<double>(kMostTiles));
  const double loaded = (is_in(op.inputs, 0, Residency::core) ? 0 : m) + (is_in(op.inputs, 1, Residency::core) ? 0 : n);
  const double port = element * loaded / chip.noc.port_bandwidth.value();
  const double clock = chip.tensor_clock().value();
  const double stream = stream_per_k(cores, tile) / (rate * clock);
  double compute = stream * least_depth;
  if (cores.dataflow != Dataflow::output_stationary && cores.overlap_folds) {
    // One fold at least, behind its preload.
    compute = std::max(compute, stream * rows) + (std::min(least_depth, rows) - 1) / clock;
  }
  const Seconds latency = chip.noc.latency + chip.glb.latency;
  return std::max({stream, port, (latency.count() + port * least_depth + compute) / depth});
}

}  // namespace

OperatorBound::OperatorBound(const Chip& chip)
    : chip_(chip),
      memory_rate_(sustained_bandwidth(chip, std::numeric_limits<double>::infinity()).value()),
      memory_latency_(chip.dma.setup + hbm_latency(chip.hbm)),
      noc_latency_(chip.noc.latency + chip.glb.latency) {}

/// Launch, and the way of the first operands in and of the last results out.
Seconds OperatorBound::outside(const Operator& op) const {
  Seconds time = is_matmul(op.kind) ? chip_.launch.device_tensor : chip_.launch.device_vector;
  for (const std::vector<Operand>* operands : {&op.inputs, &op.outputs}) {
    bool in_memory = false;
    bool in_buffer = false;
    for (const Operand& operand : *operands) {
      if (operand.bytes.value() == 0) continue;
      in_memory = in_memory || operand.where == Residency::hbm;
      in_buffer = in_buffer || operand.where != Residency::core;
    }
    if (in_memory) time += memory_latency_;
    if (in_buffer) time += noc_latency_;
  }
  return time * (1 - kRounding);
}

Seconds OperatorBound::memory_time(const Operator& op) const {
  auto bytes = static_cast<double>(op.hbm_bytes().value());
  if (is_matmul(op.kind)) {
    const double a = is_in(op.inputs, 0, Residency::hbm) ? bytes_of(op.inputs, 0) : 0;
    const double b = is_in(op.inputs, 1, Residency::hbm) ? bytes_of(op.inputs, 1) : 0;
    bytes += least_reads(chip_, op) - a - b;
  }
  return Seconds(bytes / memory_rate_);
}

Seconds OperatorBound::best_tile_time(const Operator& op) const {
  const auto rate = chip_.tensor.macs_per_pe.find(op.dtype);
  if (rate == chip_.tensor.macs_per_pe.end() || chip_.noc.port_bandwidth.value() <= 0) return Seconds(0);
  if (is_in(op.inputs, 0, Residency::core) && is_in(op.inputs, 1, Residency::core)) return Seconds(0);
  const MatmulShape& shape = op.matmul;
  double least = std::numeric_limits<double>::infinity();  // core-seconds per m, n and k
  for (const std::int64_t side : {kLeastTile, std::int64_t{1}}) {
    for (const OutputTile& tile : output_tile_candidates(chip_, shape, side)) {
      const OutputTile cut{std::min(tile.m, shape.m), std::min(tile.n, shape.n)};
      const double time = tile_time_per_k(chip_, op, rate->second, cut);
      least = std::min(least, time / (static_cast<double>(cut.m) * static_cast<double>(cut.n)));
    }
    if (!std::isinf(least)) break;
  }
  if (std::isinf(least)) return Seconds(0);  // no tile fits: the mapper says so
  const double macs = static_cast<double>(op.matmul_flops().value()) / 2;
  return Seconds(least * macs / static_cast<double>(chip_.tensor.count)) * (1 - kRounding);
}

Seconds OperatorBound::quick(const Operator& op) const {
  Seconds least = std::max(memory_time(op), vector_time(chip_, op));
  if (is_matmul(op.kind)) least = std::max({least, stream_time(chip_, op), port_time(chip_, op)});
  return outside(op) + least * (1 - kRounding);
}

Seconds OperatorBound::close(const Operator& op) const {
  const Seconds time = quick(op);
  if (!is_matmul(op.kind)) return time;
  return std::max(time, outside(op) + best_tile_time(op));
}

Seconds least_graph_time(const WorkGraph& graph, std::span<const Operator> operators, std::span<const Seconds> times) {
  Seconds tensor{};
  Seconds vector{};
  Seconds path{};
  std::vector<Seconds> end(graph.operators.size());
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const auto number = static_cast<std::size_t>(graph.operators[i]);
    const Operator& op = operators[number];
    const Seconds time = times[number];
    if (is_matmul(op.kind)) tensor += time;
    if (!is_matmul(op.kind) || !op.epilogue.empty()) vector += time;
    for (const auto& [from, to] : graph.edges) {
      if (to == static_cast<std::int32_t>(i)) end[i] = std::max(end[i], end[static_cast<std::size_t>(from)]);
    }
    end[i] += time;
    path = std::max(path, end[i]);
  }
  return std::max({tensor, vector, path});
}

}  // namespace tandem
