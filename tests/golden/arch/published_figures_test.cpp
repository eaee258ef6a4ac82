// SPDX-License-Identifier: Apache-2.0
// Shipped machines against the figures their makers, or others, published.
#include <gtest/gtest.h>

#include "arch/area.h"
#include "arch/config.h"
#include "arch/design_space.h"
#include "arch/topology.h"

namespace tandem {
namespace {

Chip shipped(const std::string& name) { return load_chip(find_config("chip", name)); }

ChipArea area_of(const std::string& name, std::int64_t links) {
  const Chip chip = shipped(name);
  return estimate_area(chip, load_technology(find_config("technology", chip.technology)), links);
}

double mm2(Area area) { return area.value() * 1e-6; }

struct Peak {
  const char* chip;
  DataType type;
  double tflops;    ///< dense, as published
  double accuracy;  ///< of the published figure
};

// Sources: docs.cloud.google.com/tpu/docs/v4; CACM 63(7), 2020; NVIDIA A100, H100, V100 whitepapers; A40 and MI210 data
// sheets.
TEST(PublishedFigures, DensePeaks) {
  for (const Peak& peak : {Peak{"tpu-v4", DataType::bf16, 275, 0.5}, Peak{"tpu-v3", DataType::bf16, 123, 0.5},
                           Peak{"a100-80gb", DataType::bf16, 312, 0.5}, Peak{"a100-80gb", DataType::tf32, 156, 0.5},
                           Peak{"a100-80gb", DataType::int8, 624, 1}, Peak{"a100-40gb", DataType::fp16, 312, 0.5},
                           Peak{"h100", DataType::bf16, 989.4, 0.5}, Peak{"h100", DataType::fp8, 1978.9, 1},
                           Peak{"mi210", DataType::fp16, 181, 0.5}, Peak{"v100", DataType::fp16, 125, 0.5},
                           Peak{"a40", DataType::bf16, 149.7, 0.1}}) {
    EXPECT_NEAR(shipped(peak.chip).peak(peak.type).value() * 1e-12, peak.tflops, peak.accuracy) << peak.chip;
  }
}

// A public tool reported 104 % because another chip's peak was built in: 104 % of 312 is 32.8 % of 989.5 TFLOP/s.
TEST(PublishedFigures, UtilisationUsesTheChipsOwnPeak) {
  const double achieved = 1.04 * shipped("a100-80gb").peak(DataType::bf16).value();
  EXPECT_NEAR(achieved / shipped("h100").peak(DataType::bf16).value(), 0.328, 0.001);
}

TEST(PublishedFigures, FloatVectorPeaks) {
  // fp32 outside the tensor cores, in multiply-adds: half of 19.5, 67 and 22.6 TFLOP/s (makers' data sheets).
  EXPECT_NEAR(shipped("a100-80gb").vector_peak().value() * 1e-12, 19.5 / 2, 0.05);
  EXPECT_NEAR(shipped("mi210").vector_peak().value() * 1e-12, 22.6 / 2, 0.05);
}

// Annotated die photographs: LLMCompass (ISCA 2024), figure 6. The published components of the A100 sum to 822.7 mm2 of
// a die of 826, those of the MI210 to 720.0 of 724.
TEST(PublishedFigures, DieAreas) {
  const ChipArea a100 = area_of("a100-80gb", 12);
  EXPECT_NEAR(mm2(a100.tensor_cores + a100.vector_cores + a100.local_buffers), 476.25, 1);
  EXPECT_NEAR(mm2(a100.global_buffer), 119.31, 0.1);
  EXPECT_NEAR(mm2(a100.noc), 76.44, 0.1);
  EXPECT_NEAR(mm2(a100.hbm), 58 + 31.77, 0.1);
  EXPECT_NEAR(mm2(a100.total()), 826, 826 * 0.01);
  const ChipArea mi210 = area_of("mi210", 3);
  EXPECT_NEAR(mm2(mi210.tensor_cores + mi210.vector_cores + mi210.local_buffers), 446.22, 1);
  EXPECT_NEAR(mm2(mi210.total()), 724, 724 * 0.01);
  EXPECT_NEAR(mm2(area_of("h100", 18).total()), 814, 814 * 0.01);  // NVIDIA H100 whitepaper
  EXPECT_NEAR(mm2(area_of("v100", 6).total()), 815, 815 * 0.01);   // NVIDIA V100 whitepaper
  EXPECT_LT(mm2(area_of("tpu-v4", 6).total()), 600);               // Jouppi et al., ISCA 2023, table 4
  EXPECT_LT(mm2(area_of("tpu-v3", 4).total()), 700);               // Jouppi et al., ISCA 2021, table 1
}

Chip phaze_chip(std::int64_t tensor_cores, std::int64_t vector_cores, std::int64_t width, std::int64_t depth,
                std::int64_t global_mib) {
  Chip chip;
  chip.tensor.count = tensor_cores;
  chip.tensor.rows = width;
  chip.tensor.cols = depth;
  chip.tensor.local_buffer = Bytes(std::max<std::int64_t>(1024, width * depth * 16));
  chip.vector.count = vector_cores;
  chip.vector.lanes = width;
  chip.vector.local_buffer = Bytes(std::max<std::int64_t>(1024, width * 16));
  chip.glb.capacity = Bytes(global_mib << 20);
  return chip;
}

// Rows of PHAZE's published architecture space (arXiv 2407.13143, artifact's cores.json), in square micrometres.
TEST(PublishedFigures, PhazeAreas) {
  const Technology technology = load_technology(find_config("technology", "phaze-22nm"));
  const auto area = [&technology](const Chip& chip) { return estimate_area(chip, technology).total().value(); };
  EXPECT_NEAR(area(phaze_chip(4096, 4096, 16, 2, 32)), 246416424.736, 1e-3);
  EXPECT_NEAR(area(phaze_chip(4096, 4096, 16, 2, 4)), 205744164.736, 1e-3);
}

// NVIDIA A100 and H100 whitepapers: 300 and 450 GB/s each way; Jouppi et al., ISCA 2023: six links of 50 GB/s; vTrain
// (MICRO 2024): 800 Gb/s per node; SC 2021, section 5: eight HDR ports per node.
TEST(PublishedFigures, InjectionBandwidths) {
  const auto raw = [](const std::string& name, std::size_t level) {
    const Level l = load_cluster(find_config("cluster", name)).levels[level];
    return l.member_bandwidth().value() * 1e-9 / l.efficiency;
  };
  EXPECT_NEAR(raw("dgx-a100", 0), 300, 1e-6);
  EXPECT_NEAR(raw("a100x4-nvlink", 0), 300, 1e-6);
  EXPECT_NEAR(raw("dgx-h100", 0), 450, 1e-6);
  EXPECT_NEAR(raw("tpu-v4-pod", 0), 300, 1e-6);
  EXPECT_NEAR(raw("dgx-a100", 1), 100, 1e-6);
  EXPECT_NEAR(raw("selene", 1), 200, 1e-6);
  EXPECT_NEAR(raw("dgx-h100", 1), 400, 1e-6);
}

TEST(PublishedFigures, PodSizes) {
  EXPECT_EQ(load_cluster(find_config("cluster", "tpu-v4-pod")).devices(), 1024);
  EXPECT_EQ(load_cluster(find_config("cluster", "tpu-v4-pod")).resized(4096).levels[0].dims,
            (std::vector<std::int64_t>{16, 16, 16}));
  EXPECT_EQ(load_cluster(find_config("cluster", "selene")).devices(), 3072);
}

}  // namespace
}  // namespace tandem
