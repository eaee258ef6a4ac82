// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>
#include <fstream>

#include "sim/kernel/context.h"
#include "sim/kernel/rate.h"
#include "sim/kernel/timed_queue.h"
#include "sim/simulate.h"
#include "tests/support/small_chip.h"

namespace tandem {
namespace {

class Recorder : public sc_core::sc_module {
 public:
  explicit Recorder(sc_core::sc_module_name name) : sc_module(name) {
    SC_METHOD(process);
    sensitive << queue.event();
    dont_initialize();
  }
  sim::TimedQueue<int> queue;
  std::vector<std::pair<std::int64_t, int>> seen;

 private:
  SC_HAS_PROCESS(Recorder);
  void process() {
    while (queue.due()) seen.emplace_back(sim::now().count(), queue.pop());
  }
};

TEST(TimedQueue, OrdersByTimeThenKey) {
  const SimulationContext context;
  Recorder recorder("recorder");
  recorder.queue.push(Picoseconds(20), 1, 1);
  recorder.queue.push(Picoseconds(10), 3, 2);
  recorder.queue.push(Picoseconds(10), 2, 3);
  recorder.queue.push(Picoseconds(30), 0, 4);
  sc_core::sc_start();
  const std::vector<std::pair<std::int64_t, int>> expected{{10, 3}, {10, 2}, {20, 1}, {30, 4}};
  EXPECT_EQ(recorder.seen, expected);
}

TEST(SimulationContext, TimeStartsAgainWithEach) {
  for (int run = 0; run < 2; ++run) {
    const SimulationContext context;
    Recorder recorder("recorder");
    EXPECT_EQ(sim::now().count(), 0);
    recorder.queue.push(Picoseconds(5), 0, run);
    sc_core::sc_start();
    EXPECT_EQ(recorder.seen.size(), 1U);
  }
}

TEST(SimulationContext, OnlyOneIsAlive) {
  const SimulationContext context;
  EXPECT_THROW(SimulationContext(), std::logic_error);
}

std::int64_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return resident;
}

TEST(SimulationContext, RepeatedSimulationsDoNotLeak) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "freed memory stays in the sanitizer's quarantine; the leak sanitizer looks instead";
#endif
  const Chip chip = test::small_chip();
  const Operator op = make_matmul("gemm", {1, 8, 8, 8}, DataType::bf16);
  const Mapping mapping = test::whole_block(op, {4, 4, 4}, 2);
  for (int run = 0; run < 100; ++run) simulate_operator(chip, op, mapping);
  const std::int64_t before = resident_pages();
  for (int run = 0; run < 1000; ++run) simulate_operator(chip, op, mapping);
  const std::int64_t grown = (resident_pages() - before) * sysconf(_SC_PAGESIZE);
  EXPECT_LT(grown, 1 << 20);
}

TEST(Rate, NeverFasterThanItsBandwidthAndHardlySlower) {
  const sim::Rate rate(Bandwidth(1.2e12));
  for (const std::int64_t bytes : {1, 3, 4096, 1'000'000'007}) {
    const double exact = static_cast<double>(bytes) / 1.2;
    EXPECT_GE(static_cast<double>(rate.time(Bytes(bytes)).count()), exact);
    EXPECT_LE(static_cast<double>(rate.time(Bytes(bytes)).count()), exact * (1 + 1e-9) + 1);
  }
  EXPECT_EQ(sim::Rate().time(Bytes(1'000'000)).count(), 0);
}

}  // namespace
}  // namespace tandem
