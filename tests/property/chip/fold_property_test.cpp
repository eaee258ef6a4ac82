// SPDX-License-Identifier: Apache-2.0
// Folded tile loops against the same loops step by step: the same to the picosecond, and folding does happen.
#include <gtest/gtest.h>
#include <memory>

#include "sim/chip/chip_module.h"
#include "sim/chip_simulation.h"
#include "sim/kernel/context.h"
#include "tests/support/random_work.h"

namespace tandem {
namespace {

using test::Random;

constexpr std::uint64_t kCases = 100;

/// A matmul deep enough for loops, cut into narrow tiles.
Operator deep_matmul(Random& random) {
  const MatmulShape shape{random.in(1, 2), random.in(8, 80), random.in(8, 80), random.in(200, 2000)};
  Operator op = make_matmul("matmul", shape, DataType::bf16);
  const std::int64_t kind = random.in(0, 5);
  if (kind == 0) op.inputs[0].where = Residency::global_buffer;
  if (kind == 1) op.epilogue = {{.kind = OperatorKind::gelu, .shape = {shape.batch * shape.m, shape.n}}};
  return op;
}

Mapping deep_mapping(Random& random, const Chip& chip, const Operator& op) {
  Mapping mapping = test::random_mapping(random, chip, op);
  MatmulMapping& tiling = mapping.matmul;
  tiling.block = {std::min<std::int64_t>(op.matmul.m, 64), std::min<std::int64_t>(op.matmul.n, 64), op.matmul.k};
  if (random.flip()) tiling.block.k = std::min<std::int64_t>(op.matmul.k, 700);
  tiling.tile = {random.in(4, 16), random.in(4, 16), random.pick({4, 8, 16})};
  while (global_buffer_needed(op, tiling, mapping.tensor_cores.count) > chip.glb.capacity) {
    tiling.block.k = std::max<std::int64_t>(1, tiling.block.k / 2);
  }
  tiling.tile = {std::min(tiling.tile.m, tiling.block.m), std::min(tiling.tile.n, tiling.block.n),
                 std::min(tiling.tile.k, tiling.block.k)};
  return mapping;
}

struct Work {
  Chip chip;
  Slice slice;
};

/// One to three operators, at times side by side.
Work random_work(std::uint64_t seed) {
  Random random(seed);
  Work work;
  work.chip = test::random_chip(random);
  work.chip.noc.multicast = random.in(0, 9) == 0;
  work.chip.glb.capacity = Bytes(4 << 20);
  const auto count = static_cast<std::int32_t>(random.in(1, 3));
  for (std::int32_t i = 0; i < count; ++i) {
    const bool is_vector = i > 0 && random.in(0, 3) == 0;
    work.slice.graph.operators.push_back(is_vector ? test::random_vector(random) : deep_matmul(random));
    const Operator& op = work.slice.graph.operators.back();
    work.slice.mappings.push_back(is_vector ? test::random_mapping(random, work.chip, op)
                                            : deep_mapping(random, work.chip, op));
    if (i > 0 && random.flip()) work.slice.graph.edges.push_back({static_cast<std::int32_t>(random.in(0, i - 1)), i});
  }
  return work;
}

/// Everything that a run leaves behind.
struct Traces {
  std::vector<std::int64_t> numbers;
  sim::TileFolder::Stats folded;
  std::int64_t activations = 0;
};

void add(Traces& traces, const sim::OperatorRun::Counts& counts) {
  for (const std::int64_t number : {counts.macs, counts.tiles, counts.hbm_read.value(), counts.hbm_write.value(),
                                    counts.local.value(), counts.core_read.value(), counts.core_write.value(),
                                    counts.port_read.value(), static_cast<std::int64_t>(counts.vector_busy.count())}) {
    traces.numbers.push_back(number);
  }
}

Traces run(const Work& work, Fold fold, sim::BuildOrder order = sim::BuildOrder::forward) {
  const SimulationContext context;
  SimulationOptions options;
  options.fold = fold;
  const ChipTrace trace;
  sim::ChipModule module("chip0", work.chip, work.slice, options, trace, order);
  sc_core::sc_start();
  Traces traces;
  EXPECT_TRUE(module.command_processor().finished());
  const auto& results = module.command_processor().results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    traces.numbers.push_back(results[i].start.count());
    traces.numbers.push_back(results[i].end.count());
    for (const Picoseconds part : results[i].by_cause.part) traces.numbers.push_back(part.count());
    add(traces, module.command_processor().run(i).counts());
  }
  for (const auto& core : module.tensor_cores()) {
    traces.numbers.push_back(core->stats().tiles);
    traces.numbers.push_back(core->stats().busy.count());
    traces.numbers.push_back(core->buffer().peak().value());
  }
  const sim::GlobalBuffer::Stats& buffer = module.global_buffer().stats();
  for (const std::int64_t number :
       {buffer.read.value(), buffer.written.value(), buffer.peak.value(),
        static_cast<std::int64_t>(buffer.read_busy.count()), static_cast<std::int64_t>(buffer.write_busy.count()),
        module.noc().stats().to_cores.value(), module.noc().stats().from_cores.value()}) {
    traces.numbers.push_back(number);
  }
  traces.folded = module.folded();
  traces.activations = module.activations();
  return traces;
}

TEST(FoldProperty, FoldedRunsEqualUnfoldedOnesToThePicosecond) {
  std::int64_t folded_cases = 0;
  std::int64_t skipped = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const Work work = random_work(seed);
    const Traces step_by_step = run(work, Fold::off);
    const Traces folded = run(work, Fold::on);
    EXPECT_EQ(folded.numbers, step_by_step.numbers) << "seed " << seed;
    EXPECT_EQ(step_by_step.folded.tiles, 0);
    EXPECT_LE(folded.activations, step_by_step.activations) << "seed " << seed;
    if (folded.folded.tiles > 0) ++folded_cases;
    skipped += folded.folded.tiles;
  }
  RecordProperty("folded_cases", static_cast<int>(folded_cases));
  RecordProperty("skipped_tiles", static_cast<int>(skipped));
  EXPECT_GT(folded_cases, static_cast<std::int64_t>(kCases) / 4) << skipped << " tiles skipped";
}

TEST(FoldProperty, FoldingDoesNotDependOnConstructionOrder) {
  for (std::uint64_t seed = 0; seed < kCases / 4; ++seed) {
    const Work work = random_work(seed);
    EXPECT_EQ(run(work, Fold::on, sim::BuildOrder::reverse).numbers, run(work, Fold::on).numbers) << "seed " << seed;
  }
}

// One core, one task of 4096 steps: all but the first few and the last are skipped.
TEST(FoldProperty, AlmostAllOfALongLoopIsSkipped) {
  Random random(7);
  Work work;
  work.chip = test::random_chip(random);
  work.chip.noc.multicast = false;
  work.chip.glb.capacity = Bytes(16 << 20);
  work.chip.tensor.local_buffer = Bytes(64 * 1024);
  const Operator op = make_matmul("matmul", {1, 16, 16, 65536}, DataType::bf16);
  Mapping mapping;
  mapping.tensor_cores = {0, 1};
  mapping.vector_cores = {0, 1};
  mapping.matmul.block = {16, 16, 65536};
  mapping.matmul.tile = {16, 16, 16};
  work.slice = test::one_operator(op, mapping);
  const Traces folded = run(work, Fold::on);
  EXPECT_EQ(folded.numbers, run(work, Fold::off).numbers);
  EXPECT_GT(folded.folded.tiles, 3900);
  EXPECT_LT(folded.activations, 1000);
}

}  // namespace
}  // namespace tandem
