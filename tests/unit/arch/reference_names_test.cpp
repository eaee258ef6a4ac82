// SPDX-License-Identifier: Apache-2.0
#include "arch/reference_names.h"

#include <gtest/gtest.h>

#include "arch/config.h"

namespace tandem {
namespace {

TEST(ReferenceNames, NameShippedConfigsOnly) {
  const ReferenceNames names = load_reference_names();
  EXPECT_FALSE(names.chips.empty());
  EXPECT_FALSE(names.clusters.empty());
  for (const auto& [name, config] : names.chips) EXPECT_EQ(load_chip(find_config("chip", config)).name, config) << name;
  for (const auto& [name, config] : names.clusters) {
    EXPECT_EQ(load_cluster(find_config("cluster", config)).name, config) << name;
  }
}

TEST(ReferenceNames, LookUpIsExact) {
  const ReferenceNames names = load_reference_names();
  EXPECT_EQ(names.chip_for("NVIDIA A100-80GB SXM"), "a100-80gb");
  EXPECT_EQ(names.cluster_for("NVLink3 in node; 800 Gb/s InfiniBand per node (4x HDR200)"), "dgx-a100");
  EXPECT_EQ(names.chip_for("nvidia a100"), std::nullopt);
  EXPECT_EQ(names.cluster_for(""), std::nullopt);
}

}  // namespace
}  // namespace tandem
