// SPDX-License-Identifier: Apache-2.0
// What the mapper chooses, the chip can run.
#include <gtest/gtest.h>

#include "arch/support/error.h"
#include "search/mapper.h"
#include "sim/simulate.h"
#include "tests/support/random_work.h"

namespace tandem {
namespace {

TEST(MappedOperators, RunAsMappedAndMoveWhatTheMappingSays) {
  std::int64_t ran = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed + 1'000'000);
    const Chip chip = test::random_chip(random);
    const Operator op = random.flip() ? test::random_vector(random) : test::random_matmul(random);
    Mapping mapping;
    try {
      mapping = map_operator(chip, op);
    } catch (const InfeasibleError&) {
      continue;
    }
    SCOPED_TRACE(seed);
    const OperatorAnswer answer = simulate_operator(chip, op, mapping);
    ++ran;
    EXPECT_LE(answer.utilisation, 1.0);
    EXPECT_GE(to_seconds(answer.time).count(), (answer.hbm_bytes / chip.hbm.bandwidth).count());
    EXPECT_GE(answer.hbm_bytes, op.hbm_bytes());
  }
  EXPECT_GT(ran, 200);
}

}  // namespace
}  // namespace tandem
