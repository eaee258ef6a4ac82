// SPDX-License-Identifier: Apache-2.0
// Faults that neighbouring tools had in public, each with its small input and the right behaviour. Those that belong to
// one reader or module stand beside that reader's or module's other tests:
//   counters of 32 bits in collectives, groups that overlap, order of ring dimensions   unit/mapping, unit/sim_cluster
//   one cycle too few, operands one below and above the array's edge                    unit/mapping/tile_cycles_test
//   a buffer size without effect, factors that do not make up the problem               unit/predict, unit/mapping
//   lost layers, ragged microbatches, batches that data parallelism cannot share        golden/cli, unit/workloads
//   stages scattered over nodes                                                         unit/sim_cluster/cluster_test
//   roofline with a mixed-up unit                                                       unit/arch/chip_test
//   blank lines and Windows line ends, numbers with exponents                           unit/arch, unit/support
//   milliseconds where the timeline format wants microseconds, killed runs              unit/tools, golden/cli,
//   golden/trace
#include <gtest/gtest.h>

#include <systemc>
#include <type_traits>

#include "arch/chip_check.h"
#include "arch/config.h"
#include "arch/support/units.h"
#include "search/mapper.h"
#include "search/predict.h"
#include "sim/chip_simulation.h"
#include "sim/kernel/context.h"
#include "sim/simulate.h"
#include "tests/support/small_chip.h"
#include "workloads/mapping.h"

namespace tandem {
namespace {

Operator gemm(MatmulShape shape) { return make_matmul("matmul", shape, DataType::bf16); }

OperatorAnswer simulated(const Chip& chip, const Operator& op) {
  return simulate_operator(chip, op, map_operator(chip, op));
}

// https://github.com/NVlabs/timeloop/issues/156: a bit count of 32 bits wrapped, so that a bigger memory was smaller.
TEST(Pitfall, CapacityGrowsWithTheDeclaredSize) {
  Chip chip = load_chip(find_config("chip", "tpu-v4"));
  const Operator op = gemm({1, 669141632 / 32, 16, 16});  // its first operand alone has 669141632 bytes
  ASSERT_EQ(op.inputs[0].bytes, Bytes(669141632));
  Mapping mapping = map_operator(chip, op);
  mapping.matmul.block = {op.matmul.m, 16, 16};
  mapping.matmul.buffers = 1;
  chip.glb.capacity = Bytes(std::int64_t{409600} * 1024);
  EXPECT_EQ(chip.glb.capacity, Bytes(419430400));
  EXPECT_GT(global_buffer_needed(op, mapping.matmul, 1), chip.glb.capacity);
  EXPECT_EQ(std::get<Bytes>(parse_quantity<Bytes>("1638400 KiB")), Bytes(1677721600));
  chip.glb.capacity = Bytes(1677721600);
  EXPECT_LE(global_buffer_needed(op, mapping.matmul, 1), chip.glb.capacity);
}

// https://github.com/accellera-official/systemc/issues/98: a coarse resolution did not fit 64 bits.
TEST(Pitfall, TimeIsCountedInPicosecondsAndHoldsMonths) {
  const SimulationContext context;
  EXPECT_EQ(sc_core::sc_get_time_resolution(), sc_core::sc_time(1, sc_core::SC_PS));
  const std::chrono::hours month(30 * 24);
  EXPECT_GT(Picoseconds::max(), Picoseconds(month));
  const sc_core::sc_time time(2592000, sc_core::SC_SEC);
  EXPECT_EQ(time.value(), 2592000ULL * 1000000000000ULL);
}

// https://github.com/scalesim-project/SCALE-Sim/issues/4 and 100: stalls with unlimited bandwidth, negative stalls.
TEST(Pitfall, UnlimitedBandwidthDoesNotStall) {
  Chip chip = test::small_chip();
  chip.tensor.rows = chip.tensor.cols = 32;
  chip.tensor.count = 1;
  chip.tensor.local_buffer = Bytes(64 << 10);
  chip.glb.capacity = Bytes(64 << 20);
  chip.hbm.bandwidth = chip.glb.bandwidth = chip.noc.port_bandwidth = Bandwidth(1e18);
  const OperatorAnswer answer = simulated(chip, gemm({1, 3025, 96, 363}));  // AlexNet's first layer, lowered
  // What an operator cannot hide is its first load and its last store: a picosecond or two each.
  EXPECT_LE(answer.by_cause[Cause::hbm_bandwidth] + answer.by_cause[Cause::noc], Picoseconds(10));
  EXPECT_EQ(answer.by_cause[Cause::buffer_stall], Picoseconds(0));
  EXPECT_EQ(answer.by_cause.total(), answer.time);
  for (const Picoseconds part : answer.by_cause.part) EXPECT_GE(part, Picoseconds(0));
}

// https://github.com/CMU-SAFARI/ramulator2/issues/104: a burst's time was charged at two levels, so that a well-formed
// stream could not pass half of the peak.
TEST(Pitfall, AStreamComesNearThePeakOfHbm) {
  const Chip chip = load_chip(find_config("chip", "tpu-v4"));
  const Operator op = make_vector("copy", OperatorKind::residual_add, {1 << 15, 1 << 12}, DataType::bf16);
  const OperatorAnswer answer = simulated(chip, op);
  const Bandwidth reached = answer.hbm_bytes / to_seconds(answer.time);
  EXPECT_GT(reached.value(), 0.75 * chip.hbm.bandwidth.value());
  EXPECT_LT(reached.value(), chip.hbm.bandwidth.value());
}

// https://github.com/gem5/gem5/pull/3390: two timings that are equal were refused.
TEST(Pitfall, EqualColumnTimingsAreLegal) {
  Chip chip = load_chip(find_config("chip", "h100"));
  const Seconds burst = chip.hbm.atom / chip.hbm.channel_bandwidth();
  chip.hbm.timing.tccd_s = chip.hbm.timing.tccd_l = burst;
  EXPECT_TRUE(chip_problems(chip).empty());
  chip.hbm.timing.tccd_s = chip.hbm.timing.tccd_l = burst * 0.9;
  const std::vector<ChipProblem> problems = chip_problems(chip);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].problem.find(to_text(burst)), std::string::npos) << problems[0].problem;
}

// https://github.com/PSAL-POSTECH/ONNXim/issues/30: another number of cores than the network was written for crashed.
TEST(Pitfall, AnyNumberOfCoresRuns) {
  for (const std::int64_t cores : {1, 3, 16, 32}) {
    Chip chip = test::small_chip();
    chip.tensor.count = cores;
    const OperatorAnswer answer = simulated(chip, gemm({1, 100, 100, 100}));
    EXPECT_GT(answer.time, Picoseconds(0)) << cores;
    EXPECT_LE(answer.utilisation, 1.0) << cores;
  }
}

// nanoGPT pull request 464: the peak of another chip was used, and utilisation came out as 104 %.
TEST(Pitfall, UtilisationIsOfTheChipsOwnPeak) {
  for (const char* name : {"a100-80gb", "h100", "tpu-v4"}) {
    const Chip chip = load_chip(find_config("chip", name));
    const Operator op = gemm({1, 4096, 4096, 4096});
    for (const OperatorAnswer& answer : {predict_operator(chip, op, map_operator(chip, op)), simulated(chip, op)}) {
      const double seconds = to_seconds(answer.time).count();
      const double of_peak = 2.0 * 4096 * 4096 * 4096 / seconds / chip.peak(DataType::bf16).value();
      EXPECT_NEAR(answer.utilisation, of_peak, 1e-6) << name;
      EXPECT_LT(answer.utilisation, 1.0) << name;
    }
  }
}

// https://github.com/KULeuven-MICAS/zigzag/issues/99: energy times the clock period was called a delay.
TEST(Pitfall, UnitsDoNotMix) {
  static_assert(!std::is_convertible_v<Energy, Cycles> && !std::is_constructible_v<Cycles, Energy>);
  static_assert(!std::is_invocable_v<std::divides<>, Energy, Frequency>);
  EXPECT_DOUBLE_EQ((Cycles(10000) / Frequency(1e9)).count(), 10e-6);
}

// https://github.com/gem5/gem5/issues/289: two runs of one version differed in unset fields.
TEST(Pitfall, RunsRepeatToTheBit) {
  const Chip chip = load_chip(find_config("chip", "tpu-v4"));
  const Operator op = gemm({2, 300, 500, 700});
  const OperatorAnswer first = simulated(chip, op);
  const OperatorAnswer second = simulated(chip, op);
  EXPECT_EQ(first.time, second.time);
  EXPECT_EQ(first.by_cause.part, second.by_cause.part);
  EXPECT_EQ(first.hbm_bytes, second.hbm_bytes);
}

}  // namespace
}  // namespace tandem
