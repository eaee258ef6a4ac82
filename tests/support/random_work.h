// SPDX-License-Identifier: Apache-2.0
// Random small chips, and operators with mappings that fit them, from a seed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "arch/chip.h"
#include "workloads/mapping.h"
#include "workloads/operator.h"
#include "workloads/program.h"

namespace tandem::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [low, high]; the same on every platform.
  std::int64_t in(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool flip() { return in(0, 1) == 1; }
  template <typename T>
  T pick(std::initializer_list<T> items) {
    return *(items.begin() + in(0, static_cast<std::int64_t>(items.size()) - 1));
  }

 private:
  std::mt19937_64 engine_;
};

inline Chip random_chip(Random& random) {
  Chip chip;
  chip.name = "random";
  chip.clock = Frequency(random.pick({1e9, 940e6, 1.41e9}));
  chip.tensor.count = random.in(1, 6);
  chip.tensor.arrays = random.pick({1, 1, 2, 4});
  chip.tensor.rows = random.pick({4, 8, 16});
  chip.tensor.cols = random.pick({4, 8, 16});
  chip.tensor.dataflow =
      random.pick({Dataflow::weight_stationary, Dataflow::output_stationary, Dataflow::input_stationary});
  chip.tensor.overlap_folds = random.flip();
  chip.tensor.accumulators = random.flip();
  chip.tensor.local_buffer = Bytes(random.in(16, 128) * 1024);
  chip.tensor.local_bandwidth = Bandwidth(random.flip() ? 0 : 1e9 * static_cast<double>(random.in(50, 500)));
  chip.tensor.macs_per_pe = {{DataType::bf16, random.pick({1.0, 2.0})}};
  chip.vector.count = random.in(1, 4);
  chip.vector.lanes = random.pick({4, 16, 32});
  chip.vector.local_buffer = Bytes(random.in(16, 64) * 1024);
  chip.vector.local_bandwidth = Bandwidth(random.flip() ? 0 : 1e9 * static_cast<double>(random.in(50, 500)));
  chip.glb = {.capacity = Bytes(random.in(256, 1024) * 1024),
              .banks = random.in(1, 16),
              .bandwidth = Bandwidth(1e9 * static_cast<double>(random.in(20, 400))),
              .latency = Seconds(1e-9 * static_cast<double>(random.in(0, 30)))};
  chip.noc = {.port_bandwidth = Bandwidth(1e9 * static_cast<double>(random.in(10, 200))),
              .latency = Seconds(1e-9 * static_cast<double>(random.in(0, 20))),
              .multicast = random.flip()};
  chip.dma = {.engines = random.in(1, 4),
              .setup = Seconds(1e-9 * static_cast<double>(random.in(0, 100))),
              .max_outstanding = Bytes(random.flip() ? 0 : random.in(1, 64) * 1024)};
  chip.hbm.generation = "HBM2";
  chip.hbm.stacks = random.in(1, 3);
  chip.hbm.channels_per_stack = random.in(1, 8);
  chip.hbm.capacity = Bytes(1 << 30);
  chip.hbm.bandwidth = Bandwidth(1e9 * static_cast<double>(random.in(5, 300)));
  chip.hbm.atom = Bytes(random.pick({32, 64}));
  if (random.flip()) {
    const auto ns = [](double value) { return Seconds(value * 1e-9); };
    chip.hbm.timing = {.trcd = ns(14),
                       .trp = ns(14),
                       .tras = ns(33),
                       .tcl = ns(14),
                       .tccd_s = ns(2),
                       .tccd_l = ns(4),
                       .trrd = ns(4),
                       .tfaw = ns(16),
                       .twtr = ns(8),
                       .trtw = ns(5),
                       .trefi = ns(3900),
                       .trfc = ns(260),
                       .page = Bytes(1024),
                       .bank_groups = 4,
                       .banks_per_group = 4};
  }
  chip.launch.device_tensor = Seconds(1e-9 * static_cast<double>(random.in(0, 500)));
  chip.launch.device_vector = Seconds(1e-9 * static_cast<double>(random.in(0, 500)));
  return chip;
}

/// A matmul of odd sizes, at times causal, with several batch elements, an epilogue or an operand that stays near.
inline Operator random_matmul(Random& random) {
  MatmulShape shape{random.flip() ? 1 : random.in(1, 3), random.in(1, 150), random.in(1, 150), random.in(1, 150)};
  const std::int64_t kind = random.in(0, 9);
  if (kind == 0) shape.n = shape.m;
  if (kind == 1) shape.k = shape.m;
  Operator op = make_matmul("matmul", shape, DataType::bf16);
  op.causal = kind <= 1;
  if (kind == 2) op.inputs[0].where = Residency::global_buffer;
  if (kind == 3) op.outputs[0].where = Residency::global_buffer;
  if (kind == 4) op.inputs[1].bytes = Bytes(op.inputs[1].bytes.value() / shape.batch);
  if (kind == 5 || kind == 6) {
    op.epilogue = {{.kind = OperatorKind::gelu, .shape = {shape.batch * shape.m, shape.n}}};
    if (kind == 6) op.epilogue.front().extra_read = op.outputs[0].bytes;
    if (kind == 6) op.epilogue.front().extra_write = op.outputs[0].bytes;
  }
  return op;
}

inline Operator random_vector(Random& random) {
  const VectorShape shape{random.in(1, 200), random.in(1, 300)};
  const OperatorKind kind =
      random.pick({OperatorKind::softmax, OperatorKind::rmsnorm, OperatorKind::residual_add, OperatorKind::gelu});
  return make_vector("vector", kind, shape, DataType::bf16);
}

/// Some mapping that fits, not a good one.
inline Mapping random_mapping(Random& random, const Chip& chip, const Operator& op) {
  Mapping mapping;
  const std::int64_t first = random.in(0, chip.tensor.count - 1);
  mapping.tensor_cores = {first, random.in(1, chip.tensor.count - first)};
  mapping.vector_cores = {0, random.in(1, chip.vector.count)};
  if (!is_matmul(op.kind)) {
    mapping.vector = {random.in(1, 8), op.vector.cols, random.pick({1, 1, 3})};
    return mapping;
  }
  MatmulMapping& tiling = mapping.matmul;
  std::array<std::array<Dim, 3>, 6> orders{{{Dim::m, Dim::n, Dim::k},
                                            {Dim::m, Dim::k, Dim::n},
                                            {Dim::n, Dim::m, Dim::k},
                                            {Dim::n, Dim::k, Dim::m},
                                            {Dim::k, Dim::m, Dim::n},
                                            {Dim::k, Dim::n, Dim::m}}};
  tiling.order = orders[static_cast<std::size_t>(random.in(0, 5))];
  tiling.split_k = random.in(0, 4) == 0 ? random.in(2, 3) : 1;
  tiling.double_buffer = random.in(0, 3) > 0;
  tiling.block = {random.in(1, op.matmul.m), random.in(1, op.matmul.n), random.in(1, op.matmul.k)};
  // Blocks of a few elements make operators of a million steps.
  tiling.block = {std::max(tiling.block.m, std::min<std::int64_t>(op.matmul.m, 24)),
                  std::max(tiling.block.n, std::min<std::int64_t>(op.matmul.n, 24)),
                  std::max(tiling.block.k, std::min<std::int64_t>(op.matmul.k, 24))};
  const auto tile = [&random](std::int64_t block) {
    return random.in(std::min<std::int64_t>(block, 8), std::min<std::int64_t>(block, 48));
  };
  tiling.tile = {tile(tiling.block.m), tile(tiling.block.n), tile(tiling.block.k)};
  const auto halve = [](TileShape& shape) {
    std::int64_t& largest = shape.m >= shape.n && shape.m >= shape.k ? shape.m : shape.n >= shape.k ? shape.n : shape.k;
    largest = std::max<std::int64_t>(1, largest / 2);
  };
  while (local_buffer_needed(op, tiling) > chip.tensor.local_buffer) halve(tiling.tile);
  while (global_buffer_needed(op, tiling, mapping.tensor_cores.count) > chip.glb.capacity) halve(tiling.block);
  tiling.tile = {std::min(tiling.tile.m, tiling.block.m), std::min(tiling.tile.n, tiling.block.n),
                 std::min(tiling.tile.k, tiling.block.k)};
  return mapping;
}

inline Slice one_operator(const Operator& op, const Mapping& mapping) {
  Slice slice;
  slice.name = op.name;
  slice.graph.operators = {op};
  slice.mappings = {mapping};
  return slice;
}

}  // namespace tandem::test
