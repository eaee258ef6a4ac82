// SPDX-License-Identifier: Apache-2.0
#include "tests/support/chip_like_reader.h"

#include <utility>

#include "arch/support/config_reader.h"

namespace tandem {

enum class Flow { weights, outputs };
template <>
struct EnumNames<Flow> {
  static constexpr auto values =
      std::to_array<std::pair<Flow, std::string_view>>({{Flow::weights, "weights"}, {Flow::outputs, "outputs"}});
};

namespace test {

const char* const kChipLikeYaml = R"(# A chip, more or less.
name: "test chip"
clock: 940 MHz
flow: weights
fused: true
tdp: ~
efficiency: 0.75
core: &core
  count: 1e3
  buffer: 1.5 MiB
  widths: [1, 2, 4]
spare: *core
hbm:
  bandwidth: 1.2 TB/s
  latency: 500 ns
  energy: 3.9 pJ
  rate: 275 TFLOP/s
  work: 2 TFLOP
  refresh: 24 cycles
  area: 826 mm2
  node: 7 nm
links:
  - {size: 4, speed: 800 Gbps}
  - size: 2
    speed: 50 GB/s
)";

const char* const kChipLikeJson = R"({"name": "test chip", "clock": "940 MHz", "flow": "weights", "fused": true,
 "tdp": null, "efficiency": 7.5e-1,
 "core": {"count": 1000, "buffer": "1.5 MiB", "widths": [1, 2, 4]},
 "spare": {"count": 1, "buffer": "1 B", "widths": []},
 "hbm": {"bandwidth": "1.2 TB/s", "latency": "500 ns", "energy": "3.9 pJ", "rate": "275 TFLOP/s", "work": "2 TFLOP",
         "refresh": "24 cycles", "area": "826 mm2", "node": "7 nm"},
 "links": [{"size": 4, "speed": "800 Gbps"}, {"size": 2, "speed": "50 GB/s"}]})";

namespace {

void read_core(const ConfigSection& core) {
  core.get<std::int64_t>("count", positive);
  core.get<Bytes>("buffer", positive);
  core.list<std::int64_t>("widths", between(1, 8));
}

}  // namespace

void read_chip_like(ConfigNode tree, const std::string& name) {
  ConfigFile file(std::move(tree), name);
  const ConfigSection root = file.root();
  root.get<std::string>("name");
  root.get<Frequency>("clock", positive);
  root.get<Flow>("flow");
  root.get_or<bool>("fused", false);
  root.maybe<Power>("tdp", not_negative);
  root.get_or<double>("efficiency", 1, fraction);
  read_core(root.section("core"));
  if (const ConfigSection spare = root.optional_section("spare"); spare.present()) read_core(spare);
  const ConfigSection hbm = root.section("hbm");
  hbm.get<Bandwidth>("bandwidth", positive);
  hbm.get<Seconds>("latency", not_negative);
  hbm.get<Energy>("energy");
  hbm.get<FlopRate>("rate");
  hbm.get<Flops>("work");
  hbm.get<Cycles>("refresh");
  hbm.get<Area>("area");
  hbm.get<Length>("node");
  for (const ConfigSection& link : root.sections("links")) {
    link.get<std::int64_t>("size", positive);
    link.get<Bandwidth>("speed", positive);
  }
  file.finish();
}

}  // namespace test
}  // namespace tandem
