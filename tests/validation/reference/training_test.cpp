// SPDX-License-Identifier: Apache-2.0
#include "tests/validation/reference/agreement.h"

namespace tandem {
namespace {

class Training : public testing::TestWithParam<Case> {};

TEST_P(Training, AgreesWithin) { expect_agreement(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Selene, Training,
                         testing::Values(Case{
                             "korthikanti", "measured/training.csv", {"group=korthikanti"}, 0.22, 0.99}),
                         name_of_case);

}  // namespace
}  // namespace tandem
