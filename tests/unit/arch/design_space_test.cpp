// SPDX-License-Identifier: Apache-2.0
#include "arch/design_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/area.h"
#include "arch/chip_fields.h"
#include "arch/config.h"
#include "arch/field_setter.h"
#include "tests/unit/arch/example_chip.h"
#include "workloads/operator.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

DesignSpace space_of(std::vector<DesignAxis> axes) {
  DesignSpace space;
  space.base = load_chip_text(kExampleChip, "c.yaml");
  space.technology = load_technology(find_config("technology", "n7"));
  space.axes = std::move(axes);
  return space;
}

std::vector<DesignPoint> points_of(const DesignSpace& space) {
  std::vector<DesignPoint> points;
  enumerate(space, [&points](const DesignPoint& point) { points.push_back(point); });
  return points;
}

std::string complaint_of(const DesignSpace& space) {
  try {
    points_of(space);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(DesignSpace, FirstAxisIsSlowest) {
  const DesignSpace space =
      space_of({{"tensor_cores.rows", {"32", "64"}}, {"global_buffer.capacity", {"16 MiB", "32 MiB", "64 MiB"}}});
  EXPECT_EQ(space.size(), 6);
  const std::vector<DesignPoint> points = points_of(space);
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[1].chip.tensor.rows, 32);
  EXPECT_EQ(points[1].chip.glb.capacity, Bytes(32 << 20));
  EXPECT_EQ(points[3].chip.tensor.rows, 64);
  EXPECT_EQ(points[3].chip.glb.capacity, Bytes(16 << 20));
  for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].index, static_cast<std::int64_t>(i));
  EXPECT_EQ(points[0].area, estimate_area(points[0].chip, space.technology).total());
}

TEST(DesignSpace, WithoutAxesIsTheBase) {
  const std::vector<DesignPoint> points = points_of(space_of({}));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].chip.name, "example");
}

TEST(DesignSpace, LimitsAreCounted) {
  DesignSpace space = space_of({{"tensor_cores.count", {"1", "4", "64"}}});
  const Area largest = points_of(space)[1].area;
  space.max_area = largest;
  const DesignCounts by_area = enumerate(space, [](const DesignPoint&) {});
  EXPECT_EQ(by_area.enumerated, 3);
  EXPECT_EQ(by_area.over_area, 1);
  space.max_area.reset();
  space.max_power = estimate_peak_power(space.base, space.technology, DataType::bf16) * 1.01;
  const DesignCounts by_power = enumerate(space, [](const DesignPoint&) {});
  EXPECT_EQ(by_power.over_power, 1);
}

TEST(DesignSpace, SmallChipsAreLeftOutUnlessACountIsOne) {
  DesignSpace space = space_of({{"tensor_cores.count", {"1", "2", "4"}}});
  const std::vector<DesignPoint> all = points_of(space);
  space.min_area = all[2].area;
  EXPECT_EQ(enumerate(space, [](const DesignPoint&) {}).under_area, 2);
  space.min_area_unless_one = {"tensor_cores.count"};
  std::vector<std::int64_t> kept;
  EXPECT_EQ(enumerate(space, [&](const DesignPoint& point) { kept.push_back(point.index); }).under_area, 1);
  EXPECT_EQ(kept, (std::vector<std::int64_t>{0, 2}));
  space.min_area_unless_one = {"hbm.bandwidth"};
  EXPECT_THROW(enumerate(space, [](const DesignPoint&) {}), ConfigError);
}

TEST(DesignSpace, ContradictionsAreCountedAndNamed) {
  const DesignSpace space = space_of({{"tensor_cores.local_buffer", {"4 KiB", "1 MiB"}}});
  const DesignCounts counts = enumerate(space, [](const DesignPoint&) {});
  EXPECT_EQ(counts.contradictory, 1);
  EXPECT_THAT(counts.first_contradiction, HasSubstr("tensor_cores.local_buffer"));
}

TEST(DesignSpace, EveryFieldOfAChipIsAnAxis) {
  const Chip chip = load_chip_text(kExampleChip, "c.yaml");
  const std::string text = to_yaml(chip);
  for (const std::string& path : field_paths(chip)) {
    const auto [section, key] = split_path(path);
    const std::size_t at = text.find(std::string(key) + ": ");
    ASSERT_NE(at, std::string::npos) << path;
    Chip copy = chip;
    EXPECT_TRUE(find_field(copy, path)) << path;
  }
}

TEST(DesignSpace, MapEntriesAreFields) {
  const std::vector<DesignPoint> points = points_of(space_of({{"tensor_cores.macs_per_pe.fp8", {"2", "4"}},
                                                              {"launch.host.softmax", {"1 us"}},
                                                              {"tensor_cores.dataflow", {"os"}}}));
  EXPECT_EQ(points[1].chip.tensor.macs_per_pe.at(DataType::fp8), 4.0);
  EXPECT_EQ(points[1].chip.launch.host.at("softmax"), Seconds(1e-6));
  EXPECT_EQ(points[1].chip.tensor.dataflow, Dataflow::output_stationary);
}

TEST(DesignSpace, TiesFollowOtherFields) {
  DesignSpace space = space_of({{"tensor_cores.rows", {"8", "64", "128"}}});
  space.ties = {{"tensor_cores.cols", "tensor_cores.rows"},
                {"tensor_cores.local_buffer", "max(256 KiB, tensor_cores.rows * tensor_cores.cols * 32 B)"},
                {"vector_cores.count", "tensor_cores.count * 2"},
                {"vector_cores.lanes", "tensor_cores.rows"}};
  const std::vector<DesignPoint> points = points_of(space);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[2].chip.tensor.cols, 128);
  EXPECT_EQ(points[2].chip.vector.lanes, 128);
  EXPECT_EQ(points[2].chip.vector.count, 8);
  EXPECT_EQ(points[0].chip.tensor.local_buffer, Bytes(256 << 10));
  EXPECT_EQ(points[2].chip.tensor.local_buffer, Bytes(512 << 10));
}

TEST(DesignSpace, WrongAxesAreRefused) {
  EXPECT_THAT(complaint_of(space_of({{"tensor_cores.row", {"8"}}})),
              AllOf(HasSubstr("tensor_cores.row"), HasSubstr("did you mean"), HasSubstr("tensor_cores.rows")));
  EXPECT_THAT(complaint_of(space_of({{"tensor_cores.rows", {}}})), HasSubstr("no values"));
  EXPECT_THAT(complaint_of(space_of({{"tensor_cores.rows", {"8", "0"}}})), HasSubstr("tensor_cores.rows[1]"));
  EXPECT_THAT(complaint_of(space_of({{"global_buffer.capacity", {"32"}}})), HasSubstr("global_buffer.capacity"));
  EXPECT_THAT(complaint_of(space_of({{"tensor_cores.rows", {"8"}}, {"tensor_cores.rows", {"9"}}})), HasSubstr("two"));
}

TEST(DesignSpace, WrongTiesAreRefused) {
  for (const char* source : {"tensor_cores.row", "clock", "tensor_cores.rows * 4 B", "", "rows *"}) {
    DesignSpace space = space_of({});
    space.ties = {{"tensor_cores.cols", source}};
    EXPECT_THAT(complaint_of(space), HasSubstr("tensor_cores.cols")) << source;
  }
  DesignSpace space = space_of({});
  space.ties = {{"tensor_cores.local_buffer", "4 KiB * 4 KiB"}};
  EXPECT_THAT(complaint_of(space), HasSubstr("one size"));
}

TEST(LaunchKinds, AreThoseOfOperators) {
  EXPECT_EQ(kLaunchKinds.size(), EnumNames<OperatorKind>::values.size() + 1);
  for (const auto& [kind, name] : EnumNames<OperatorKind>::values) {
    EXPECT_NE(std::find(kLaunchKinds.begin(), kLaunchKinds.end(), name), kLaunchKinds.end()) << name;
  }
}

}  // namespace
}  // namespace tandem
