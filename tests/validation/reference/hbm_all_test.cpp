// SPDX-License-Identifier: Apache-2.0
#include "tests/validation/reference/agreement.h"

namespace tandem {
namespace {

class WholeHbm : public testing::TestWithParam<SimulatedCase> {};

TEST_P(WholeHbm, AgreesWithin) { expect_simulated_agreement(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Dramsim3, WholeHbm,
                         testing::Values(SimulatedCase{
                             "all_configurations", "hbm/hbm.csv", {}, 0.03, 0.08, "latency_s", 0.05}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace tandem
