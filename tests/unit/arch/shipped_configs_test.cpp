// SPDX-License-Identifier: Apache-2.0
// Every shipped chip, cluster and technology loads, resolves to text that loads to the same, and fits together.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "arch/area.h"
#include "arch/config.h"
#include "arch/topology.h"

namespace tandem {
namespace {

std::filesystem::path configs() { return std::filesystem::path(TANDEM_SOURCE_DIR) / "configs"; }

std::vector<std::string> shipped(const std::string& kind) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(configs() / kind)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ShippedChip : public testing::TestWithParam<std::string> {};

TEST_P(ShippedChip, LoadsAndResolves) {
  const Chip chip = load_chip(configs() / "chip" / (GetParam() + ".yaml"));
  EXPECT_EQ(chip.name, GetParam());
  const std::string text = to_yaml(chip);
  EXPECT_EQ(to_yaml(load_chip_text(text, "resolved.yaml")), text);
}

TEST_P(ShippedChip, StaysWithinItsPower) {
  const Chip chip = load_chip(configs() / "chip" / (GetParam() + ".yaml"));
  const Technology technology = load_technology(find_config("technology", chip.technology));
  const DataType type = chip.supports(DataType::bf16) ? DataType::bf16 : DataType::fp16;
  const double power = estimate_peak_power(chip, technology, type).value();
  EXPECT_GT(power, 0.2 * chip.tdp.value());
  EXPECT_LT(power, 1.6 * chip.tdp.value());
}

INSTANTIATE_TEST_SUITE_P(All, ShippedChip, testing::ValuesIn(shipped("chip")), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

class ShippedCluster : public testing::TestWithParam<std::string> {};

TEST_P(ShippedCluster, LoadsAndResolves) {
  const Cluster cluster = load_cluster(configs() / "cluster" / (GetParam() + ".yaml"));
  EXPECT_EQ(cluster.name, GetParam());
  const std::string text = to_yaml(cluster);
  EXPECT_EQ(to_yaml(load_cluster_text(text, "resolved.yaml")), text);
}

TEST_P(ShippedCluster, IsConnected) {
  const Cluster cluster = load_cluster(configs() / "cluster" / (GetParam() + ".yaml"));
  const Topology topology(cluster);
  EXPECT_FALSE(topology.route(0, topology.devices() - 1).empty());
  EXPECT_EQ(cluster.resized(1).devices(), 1);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedCluster, testing::ValuesIn(shipped("cluster")), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

class ShippedTechnology : public testing::TestWithParam<std::string> {};

TEST_P(ShippedTechnology, LoadsAndResolves) {
  const Technology technology = load_technology(configs() / "technology" / (GetParam() + ".yaml"));
  EXPECT_EQ(technology.name, GetParam());
  const std::string text = to_yaml(technology);
  EXPECT_EQ(to_yaml(load_technology_text(text, "resolved.yaml")), text);
}

INSTANTIATE_TEST_SUITE_P(All, ShippedTechnology, testing::ValuesIn(shipped("technology")), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace tandem
