// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "arch/support/error.h"
#include "search/mapper.h"
#include "search/predict.h"
#include "tests/support/chips.h"

namespace tandem {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  /// Roughly even over orders of magnitude. std::uniform distributions differ between libraries, this does not.
  std::int64_t size(std::int64_t most) {
    std::int64_t top = 1;
    while (top * 2 <= most && one_of(8) != 0) top *= 2;
    return std::min(most, top + one_of(top));
  }
  std::int64_t one_of(std::int64_t n) { return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n)); }
  double factor() { return static_cast<double>(1 + one_of(1000)) / 100; }

 private:
  std::mt19937_64 engine_;
};

Chip random_chip(Draw& draw) {
  Chip chip = small_chip();
  chip.tensor.count = 1 + draw.one_of(16);
  chip.tensor.arrays = 1 + draw.one_of(4);
  chip.tensor.rows = std::int64_t{4} << draw.one_of(6);
  chip.tensor.cols = std::int64_t{4} << draw.one_of(6);
  chip.tensor.dataflow = static_cast<Dataflow>(draw.one_of(3));
  chip.tensor.overlap_folds = draw.one_of(2) == 0;
  chip.tensor.accumulators = draw.one_of(2) == 0;
  chip.tensor.local_buffer = Bytes(std::int64_t{4096} << draw.one_of(10));
  if (draw.one_of(2) == 0) chip.tensor.local_bandwidth = Bandwidth(1e11 * draw.factor());
  chip.vector.count = 1 + draw.one_of(8);
  chip.vector.lanes = std::int64_t{8} << draw.one_of(7);
  chip.vector.local_buffer = Bytes(std::int64_t{4096} << draw.one_of(10));
  chip.glb.capacity = Bytes(std::int64_t{1 << 18} << draw.one_of(10));
  chip.glb.bandwidth = Bandwidth(1e12 * draw.factor());
  chip.noc.port_bandwidth = Bandwidth(1e11 * draw.factor());
  chip.noc.multicast = draw.one_of(2) == 0;
  chip.hbm.bandwidth = Bandwidth(1e11 * draw.factor());
  if (draw.one_of(2) == 0) {
    HbmTiming& timing = chip.hbm.timing;
    timing.trcd = timing.trp = timing.tcl = Seconds(14e-9);
    timing.tras = Seconds(33e-9);
    timing.tccd_s = Seconds(1e-9);
    timing.tccd_l = Seconds(2e-9);
    timing.trrd = Seconds(4e-9);
    timing.tfaw = Seconds(16e-9);
    timing.trefi = Seconds(3900e-9);
    timing.trfc = Seconds(350e-9);
    timing.page = Bytes(1024);
    timing.bank_groups = timing.banks_per_group = 4;
  }
  return chip;
}

Operator random_operator(Draw& draw) {
  if (draw.one_of(3) == 0) {
    const auto kind = static_cast<OperatorKind>(2 + draw.one_of(17));
    return make_vector("op", kind, {draw.size(1 << 14), draw.size(1 << 13)}, DataType::bf16);
  }
  const std::int64_t batch = draw.one_of(3) == 0 ? draw.size(64) : 1;
  Operator op = make_matmul("op", {batch, draw.size(1 << 13), draw.size(1 << 13), draw.size(1 << 13)}, DataType::bf16);
  if (draw.one_of(4) == 0) {
    op.matmul.n = op.matmul.m;
    op = make_matmul("op", op.matmul, DataType::bf16);
    op.causal = true;
    op.causal_keys = op.matmul.m;
  }
  if (draw.one_of(4) == 0) {
    const VectorShape shape{op.matmul.batch * op.matmul.m, op.matmul.n};
    op.epilogue = {{OperatorKind::gelu, Pass::forward, shape, Bytes(0), op.outputs[0].bytes}};
  }
  return op;
}

void expect_sound(const Chip& chip, const Operator& op, const Mapping& mapping) {
  const OperatorAnswer answer = predict_operator(chip, op, mapping);
  const double time = to_seconds(answer.time).count();
  EXPECT_EQ(answer.by_cause.total(), answer.time);
  for (const Picoseconds part : answer.by_cause.part) EXPECT_GE(part.count(), 0);
  EXPECT_GE(time, (op.hbm_bytes() / chip.hbm.bandwidth).count());
  EXPECT_GE(time, (op.matmul_flops() / chip.peak(op.dtype)).count());
  EXPECT_LE(answer.utilisation, 1.0);
  EXPECT_GE(answer.hbm_bytes, op.hbm_bytes());
  if (!is_matmul(op.kind)) return;
  EXPECT_LE(local_buffer_needed(op, mapping.matmul), chip.tensor.local_buffer);
  EXPECT_LE(global_buffer_needed(op, mapping.matmul, mapping.tensor_cores.count), chip.glb.capacity);
}

void expect_monotone(const Chip& chip, const Operator& op, const Mapping& mapping) {
  const Picoseconds time = predict_operator(chip, op, mapping).time;
  Chip more = chip;
  more.hbm.bandwidth = chip.hbm.bandwidth * 1.7;
  EXPECT_LE(predict_operator(more, op, mapping).time, time + Picoseconds(1)) << "HBM";
  more = chip;
  more.noc.port_bandwidth = chip.noc.port_bandwidth * 1.7;
  EXPECT_LE(predict_operator(more, op, mapping).time, time + Picoseconds(1)) << "NoC";
  more = chip;
  more.glb.bandwidth = chip.glb.bandwidth * 1.7;
  EXPECT_LE(predict_operator(more, op, mapping).time, time + Picoseconds(1)) << "global buffer";
}

TEST(PredictionProperty, SoundAndMonotoneOnRandomChipsAndOperators) {
  Draw draw(1);
  int ran = 0;
  for (int i = 0; i < 1100; ++i) {
    const Chip chip = random_chip(draw);
    const Operator op = random_operator(draw);
    SCOPED_TRACE(i);
    Mapping mapping;
    try {
      mapping = map_operator(chip, op);
    } catch (const InfeasibleError&) {
      continue;
    }
    ++ran;
    expect_sound(chip, op, mapping);
    expect_monotone(chip, op, mapping);
    if (HasFailure()) break;
  }
  EXPECT_GE(ran, 1000);
}

TEST(PredictionProperty, FasterLinksNeverSlowACollective) {
  Draw draw(2);
  for (int i = 0; i < 400; ++i) {
    const std::int64_t per_node = std::int64_t{1} << draw.one_of(4);
    const std::int64_t nodes = 1 + draw.one_of(6);
    Cluster cluster = small_cluster(nodes, per_node);
    cluster.levels[0].kind = static_cast<LevelKind>(draw.one_of(2) == 0 ? 0 : 4);
    std::vector<std::int64_t> ranks(static_cast<std::size_t>(nodes * per_node));
    std::iota(ranks.begin(), ranks.end(), 0);
    const Collective collective{static_cast<CollectiveKind>(draw.one_of(6)), Bytes(draw.size(1 << 28)),
                                static_cast<CollectiveAlgorithm>(1 + draw.one_of(6))};
    const double before = collective_time(collective, cluster, ranks).count();
    // The pieces of a tree are chosen for the link: a fixed number is what can be compared.
    const bool pieces_change =
        collective.algorithm == CollectiveAlgorithm::tree || collective.kind == CollectiveKind::broadcast;
    for (Level& level : cluster.levels) level.link_bandwidth = level.link_bandwidth * 2;
    EXPECT_LE(collective_time(collective, cluster, ranks).count(), before * (pieces_change ? 1.05 : 1 + 1e-12)) << i;
    if (collective.kind == CollectiveKind::broadcast || ranks.size() == 1) continue;
    // No device sends faster than all its links together: one way into the node's switch, or both ways round a ring.
    const double sent = static_cast<double>(bytes_sent_per_rank(collective, nodes * per_node).value());
    EXPECT_GE(before, sent / (2 * 50e9 + 40e9)) << i;
  }
}

}  // namespace
}  // namespace tandem
