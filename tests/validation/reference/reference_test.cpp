// SPDX-License-Identifier: Apache-2.0
#include "tests/validation/reference/agreement.h"

namespace tandem {
namespace {

class Reference : public testing::TestWithParam<Case> {};

TEST_P(Reference, AgreesWithin) { expect_agreement(GetParam()); }

const std::string kOperators = "measured/operators.csv", kCollectives = "measured/collectives.csv";

INSTANTIATE_TEST_SUITE_P(
    Operators, Reference,
    testing::Values(Case{"mi210_softmax", kOperators, {"op=softmax", "device=AMD MI210"}, 0.07, 0.93},
                    Case{"a100_softmax", kOperators, {"op=softmax", "device=NVIDIA A100-80GB SXM"}, 0.23, 0.9},
                    Case{"a100_layernorm", kOperators, {"op=layernorm", "device=NVIDIA A100-80GB SXM"}, 0.29, 0.85},
                    Case{"a100_gelu", kOperators, {"op=gelu", "device=NVIDIA A100-80GB SXM"}, 0.65, 0.65}),
    name_of_case);

INSTANTIATE_TEST_SUITE_P(
    Collectives, Reference,
    testing::Values(
        Case{"four_a100_all_reduce", kCollectives, {"system=4x A100 node (LLMCompass)"}, 0.16, 0.92},
        Case{"eight_a100_all_reduce", kCollectives, {"system=8x A100 in one node (vTrain profile)"}, 0.07, 0.97},
        Case{"two_dgx_h100_all_reduce", kCollectives, {"system=2x DGX H100"}, 0.21, 0.99}),
    name_of_case);

}  // namespace
}  // namespace tandem
