// SPDX-License-Identifier: Apache-2.0
// What must hold for every chip and operator, whatever the mapping.
#include <gtest/gtest.h>
#include <algorithm>

#include "sim/chip/chip_module.h"
#include "sim/chip_simulation.h"
#include "sim/kernel/context.h"
#include "tests/support/random_work.h"

namespace tandem {
namespace {

using test::Random;

constexpr std::uint64_t kCases = 1000;

struct Case {
  Chip chip;
  Operator op;
  Mapping mapping;
};

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case result;
  result.chip = test::random_chip(random);
  result.op = random.in(0, 3) == 0 ? test::random_vector(random) : test::random_matmul(random);
  result.mapping = test::random_mapping(random, result.chip, result.op);
  return result;
}

Bytes extra_bytes(const Operator& op) {
  Bytes sum{};
  for (const FusedWork& work : op.epilogue) sum += work.extra_read + work.extra_write;
  return sum;
}

void expect_same(const OperatorAnswer& a, const OperatorAnswer& b) {
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.by_cause.part, b.by_cause.part);
  EXPECT_EQ(a.hbm_bytes, b.hbm_bytes);
  EXPECT_EQ(a.accesses.global, b.accesses.global);
}

TEST(ChipProperty, NeverBeatsItsRooflineAndTimesAddUp) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const Case work = random_case(seed);
    const OperatorAnswer answer = simulate_operator(work.chip, work.op, work.mapping);
    SCOPED_TRACE(seed);
    Picoseconds sum{};
    for (const Picoseconds part : answer.by_cause.part) {
      EXPECT_GE(part.count(), 0);
      sum += part;
    }
    EXPECT_EQ(sum, answer.time);
    EXPECT_LE(answer.utilisation, 1.0);
    EXPECT_GT(answer.utilisation, 0.0);
    const double seconds = to_seconds(answer.time).count();
    EXPECT_GE(seconds, (answer.hbm_bytes / work.chip.hbm.bandwidth).count());
    EXPECT_GE(seconds, static_cast<double>(answer.accesses.noc.value()) / work.chip.noc.port_bandwidth.value() /
                           static_cast<double>(2 * (work.chip.tensor.count + work.chip.vector.count)));
    if (is_matmul(work.op.kind)) {
      const double share =
          static_cast<double>(work.mapping.tensor_cores.count) / static_cast<double>(work.chip.tensor.count);
      EXPECT_GE(seconds, (work.op.matmul_flops() / work.chip.peak(DataType::bf16)).count() / share);
    }
  }
}

TEST(ChipProperty, MovesTheBytesThatTheMappingSays) {
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const Case work = random_case(seed);
    const OperatorAnswer answer = simulate_operator(work.chip, work.op, work.mapping);
    SCOPED_TRACE(seed);
    if (!is_matmul(work.op.kind)) {
      EXPECT_EQ(answer.hbm_bytes, work.op.hbm_bytes());
      continue;
    }
    const MatmulTraffic traffic =
        matmul_traffic(work.op, work.mapping.matmul, work.chip.noc, work.mapping.tensor_cores.count);
    EXPECT_EQ(answer.hbm_bytes, traffic.hbm_read + traffic.hbm_write + extra_bytes(work.op));
    const MatmulShape& shape = work.op.matmul;
    if (work.op.causal) continue;  // matmul_traffic takes the mean over tiles of unequal size
    EXPECT_EQ(answer.accesses.macs, shape.batch * shape.m * shape.n * shape.k);
    EXPECT_EQ(answer.accesses.noc, traffic.port_read + traffic.port_write + extra_bytes(work.op));
    const Bytes between = traffic.core_read + traffic.core_write + extra_bytes(work.op);
    if (!work.chip.noc.multicast) {
      EXPECT_EQ(answer.accesses.global, between + answer.hbm_bytes);
    }
  }
}

TEST(ChipProperty, RepeatsToTheBitInAnyConstructionOrder) {
  for (std::uint64_t seed = 0; seed < kCases / 2; ++seed) {
    const Case work = random_case(seed);
    const Slice slice = test::one_operator(work.op, work.mapping);
    const OperatorAnswer first = simulate_operator(work.chip, work.op, work.mapping);
    const OperatorAnswer second = simulate_operator(work.chip, work.op, work.mapping);
    SCOPED_TRACE(seed);
    expect_same(first, second);
    const SimulationContext context;
    const SimulationOptions options;
    const ChipTrace trace;
    sim::ChipModule module("chip0", work.chip, slice, options, trace, sim::BuildOrder::reverse);
    sc_core::sc_start();
    const auto& result = module.command_processor().results().front();
    ASSERT_TRUE(result.ended);
    EXPECT_EQ(result.end, first.time);
    EXPECT_EQ(result.by_cause.part, first.by_cause.part);
  }
}

// Operators side by side contend for everything that is shared.
TEST(ChipProperty, SlicesAddUpAndDoNotDependOnConstructionOrder) {
  for (std::uint64_t seed = 0; seed < kCases / 2; ++seed) {
    Random random(seed);
    const Chip chip = test::random_chip(random);
    Slice slice;
    const auto count = static_cast<std::int32_t>(random.in(2, 5));
    for (std::int32_t i = 0; i < count; ++i) {
      slice.graph.operators.push_back(random.in(0, 2) == 0 ? test::random_vector(random) : test::random_matmul(random));
      slice.mappings.push_back(test::random_mapping(random, chip, slice.graph.operators.back()));
      if (i > 0 && random.flip()) slice.graph.edges.push_back({static_cast<std::int32_t>(random.in(0, i - 1)), i});
    }
    const SliceRun run = run_slice(chip, slice);
    SCOPED_TRACE(seed);
    EXPECT_EQ(run.slice.by_cause.total(), run.slice.time);
    for (const OperatorAnswer& answer : run.operators) EXPECT_EQ(answer.by_cause.total(), answer.time);
    const SimulationContext context;
    const SimulationOptions options;
    const ChipTrace trace;
    sim::ChipModule module("chip0", chip, slice, options, trace, sim::BuildOrder::reverse);
    sc_core::sc_start();
    ASSERT_TRUE(module.command_processor().finished());
    for (std::size_t i = 0; i < run.operators.size(); ++i) {
      const auto& result = module.command_processor().results()[i];
      EXPECT_EQ(result.start, run.operators[i].start);
      EXPECT_EQ(result.by_cause.part, run.operators[i].by_cause.part);
    }
  }
}

// Whole tiles and blocks, so that matmul_traffic's mean tile is every tile.
TEST(ChipProperty, ReadsTheGlobalBufferOncePerMulticast) {
  for (std::uint64_t seed = 0; seed < kCases / 4; ++seed) {
    Random random(seed);
    Chip chip = test::random_chip(random);
    chip.noc.multicast = true;
    chip.tensor.local_buffer = Bytes(1 << 20);
    chip.glb.capacity = Bytes(1 << 24);
    Mapping mapping;
    mapping.tensor_cores = {0, chip.tensor.count};
    mapping.vector_cores = {0, 1};
    MatmulMapping& tiling = mapping.matmul;
    tiling.tile = {random.in(1, 8), random.in(1, 8), random.in(1, 8)};
    const TileShape tiles{random.in(1, 5), random.in(1, 5), random.in(1, 3)};
    tiling.block = {tiling.tile.m * tiles.m, tiling.tile.n * tiles.n, tiling.tile.k * tiles.k};
    const TileShape blocks{random.in(1, 3), random.in(1, 3), random.in(1, 3)};
    const Operator op = make_matmul(
        "matmul", {1, tiling.block.m * blocks.m, tiling.block.n * blocks.n, tiling.block.k * blocks.k}, DataType::bf16);
    const OperatorAnswer answer = simulate_operator(chip, op, mapping);
    const MatmulTraffic traffic = matmul_traffic(op, tiling, chip.noc, chip.tensor.count);
    EXPECT_EQ(answer.accesses.global, traffic.core_read + traffic.core_write + answer.hbm_bytes) << "seed " << seed;
  }
}

// One core, one DMA engine, one buffer: the order of work is fixed and nothing is contended.
TEST(ChipProperty, MoreMemoryBandwidthIsNeverSlower) {
  for (std::uint64_t seed = 0; seed < kCases / 4; ++seed) {
    Case work = random_case(seed);
    work.chip.dma.engines = 1;
    work.chip.hbm.timing = {};
    work.mapping.tensor_cores.count = 1;
    work.mapping.vector_cores.count = 1;
    work.mapping.matmul.double_buffer = false;
    Picoseconds last = simulate_operator(work.chip, work.op, work.mapping).time;
    for (int step = 0; step < 3; ++step) {
      work.chip.hbm.bandwidth = work.chip.hbm.bandwidth * 1.7;
      const Picoseconds faster = simulate_operator(work.chip, work.op, work.mapping).time;
      EXPECT_LE(faster, last) << "seed " << seed;
      last = faster;
    }
  }
}

}  // namespace
}  // namespace tandem
