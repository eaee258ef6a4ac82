// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/config.h"
#include "arch/support/error.h"
#include "tests/unit/arch/example_chip.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kCluster = R"(name: pair
chip: tpu-v4
levels:
  - {name: inner, kind: switch, size: 8, links: 12, link_bandwidth: 25 GB/s, link_latency: 500 ns, efficiency: 0.8}
  - {name: outer, kind: fat_tree, size: 4, links: 4, link_bandwidth: 200 Gb/s, link_latency: 2 us, links_per_message: 1,
     oversubscription: 2, in_network_reduction: true}
overhead: {collective: 10 us, step: 1 us, send: 2 us}
iteration_overhead: 5 ms
reserved_memory: 1 GiB
)";

std::string complaint_of(const std::string& text) {
  try {
    load_cluster_text(text, "c.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ClusterConfig, ReadsLevels) {
  const Cluster cluster = load_cluster_text(kCluster, "c.yaml");
  EXPECT_EQ(cluster.chip.name, "tpu-v4");
  ASSERT_EQ(cluster.levels.size(), 2U);
  EXPECT_EQ(cluster.levels[0].links_per_message, 12) << "all links unless told otherwise";
  EXPECT_EQ(cluster.levels[1].link_bandwidth, Bandwidth(25e9)) << "Gb are bits";
  EXPECT_EQ(cluster.levels[1].oversubscription, 2.0);
  EXPECT_EQ(cluster.overhead.step, Seconds(1e-6));
  EXPECT_EQ(cluster.reserved_memory, Bytes(1 << 30));
}

TEST(ClusterConfig, ResolvedTextCarriesTheChip) {
  const Cluster cluster = load_cluster_text(kCluster, "c.yaml");
  const std::string text = to_yaml(cluster);
  EXPECT_EQ(to_yaml(load_cluster_text(text, "/nowhere/resolved.yaml")), text);
}

TEST(ClusterConfig, ChipMayStandInline) {
  std::string inline_chip = "chip:\n";
  std::string line;
  for (const char c : kExampleChip) {
    line += c;
    if (c == '\n') inline_chip += "  " + line;
    if (c == '\n') line.clear();
  }
  const std::string text = with(kCluster, "chip: tpu-v4\n", inline_chip);
  EXPECT_EQ(load_cluster_text(text, "c.yaml").chip.name, "example");
  EXPECT_THAT(complaint_of(with(text, "    rows: 64", "    rows: 0")), HasSubstr("chip.tensor_cores.rows"));
}

TEST(ClusterConfig, UnknownChipNamesTheNearest) {
  EXPECT_THAT(complaint_of(with(kCluster, "chip: tpu-v4", "chip: tpu-v44")),
              AllOf(HasSubstr("tpu-v44"), HasSubstr("tpu-v4")));
}

TEST(ClusterConfig, ComplaintsOfClusterAndChipComeTogether) {
  const std::string text =
      with(with(kCluster, "chip: tpu-v4", "chip: nothing-like-it"), "efficiency: 0.8", "efficiency: 1.8");
  EXPECT_THAT(complaint_of(text), AllOf(HasSubstr("nothing-like-it"), HasSubstr("levels[0].efficiency")));
}

TEST(ClusterConfig, TorusNeedsItsDimensions) {
  const std::string level = "kind: switch, size: 8";
  EXPECT_THAT(complaint_of(with(kCluster, level, "kind: torus3d, size: 8")), HasSubstr("levels[0].dims"));
  EXPECT_THAT(complaint_of(with(kCluster, level, "kind: torus3d, dims: [2, 4]")), HasSubstr("2 sizes"));
  EXPECT_EQ(complaint_of(with(kCluster, level, "kind: torus2d, dims: [2, 4]")), "accepted");
}

TEST(ClusterConfig, FieldsWithoutEffectAreRefused) {
  EXPECT_THAT(complaint_of(with(kCluster, "efficiency: 0.8", "oversubscription: 2")), HasSubstr("no effect"));
  const std::string ring = with(kCluster, "kind: switch, size: 8", "kind: ring, size: 8, in_network_reduction: true");
  EXPECT_THAT(complaint_of(ring), HasSubstr("no effect"));
  EXPECT_THAT(complaint_of(with(kCluster, "links_per_message: 1", "links_per_message: 9")), HasSubstr("9 of 4"));
}

TEST(ClusterConfig, AbsurdSizesAreRefused) {
  EXPECT_THAT(complaint_of(with(kCluster, "size: 4", "size: 1000000")),
              AllOf(HasSubstr("levels"), HasSubstr("4194304")));
  EXPECT_THAT(complaint_of(with(kCluster, "reserved_memory: 1 GiB", "reserved_memory: 32 GiB")),
              HasSubstr("reserved_memory"));
  EXPECT_THAT(complaint_of("name: x\nchip: tpu-v4\nlevels: []\n"), HasSubstr("levels"));
}

TEST(FindConfig, NamesNearMisses) {
  EXPECT_EQ(find_config("chip", "tpu-v4").filename(), "tpu-v4.yaml");
  try {
    find_config("cluster", "dgx-a10");
    FAIL() << "found";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("dgx-a10"), HasSubstr("dgx-a100"), HasSubstr("selene")));
  }
}

}  // namespace
}  // namespace tandem
