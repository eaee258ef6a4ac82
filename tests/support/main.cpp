// SPDX-License-Identifier: Apache-2.0
// Our own main: libsystemc brings one too, which would win over gtest_main.
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
