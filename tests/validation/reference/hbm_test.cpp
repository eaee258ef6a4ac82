// SPDX-License-Identifier: Apache-2.0
#include "tests/validation/reference/agreement.h"

namespace tandem {
namespace {

class ReferenceHbm : public testing::TestWithParam<SimulatedCase> {};

TEST_P(ReferenceHbm, AgreesWithin) { expect_simulated_agreement(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Dramsim3, ReferenceHbm,
                         testing::Values(SimulatedCase{
                             "hbm2_4gb", "hbm/hbm.csv", {"config=HBM2_4Gb_x128"}, 0.01, 0.03, "latency_s", 0.03}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace tandem
