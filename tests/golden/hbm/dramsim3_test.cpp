// SPDX-License-Identifier: Apache-2.0
// A few figures of DRAMsim3 (umd-memsys/DRAMsim3, configuration HBM2_8Gb_x128, 400 us after 40 us of warm-up).
#include <gtest/gtest.h>

#include <ostream>

#include "arch/hbm_presets.h"
#include "sim/hbm_simulation.h"

namespace tandem {
namespace {

struct Figure {
  const char* name;
  HbmTraffic traffic;
  double share;    ///< of 256 GB/s
  double latency;  ///< ns; 0: not stated
};

std::ostream& operator<<(std::ostream& stream, const Figure& figure) { return stream << figure.name; }

HbmTraffic windowed(HbmPattern pattern, std::int64_t request, std::int64_t stride) {
  HbmTraffic traffic;
  traffic.pattern = pattern;
  traffic.request = Bytes(request);
  traffic.stride = Bytes(stride);
  traffic.window = Bytes(65536);
  return traffic;
}

HbmTraffic lone(HbmPattern pattern, std::int64_t stride) {
  HbmTraffic traffic = windowed(pattern, 64, stride);
  traffic.window = Bytes(64);
  traffic.one_at_a_time = true;
  traffic.gap = Seconds(100e-9);
  return traffic;
}

HbmTraffic all_writes() {
  HbmTraffic traffic = windowed(HbmPattern::sequential, 256, 0);
  traffic.writes = 1;
  return traffic;
}

HbmTraffic lockstep(std::int64_t streams) {
  HbmTraffic traffic = windowed(HbmPattern::lockstep, 256, 0);
  traffic.streams = streams;
  traffic.stream_offset = Bytes(134217728);
  return traffic;
}

class DramSim3 : public testing::TestWithParam<Figure> {};

TEST_P(DramSim3, AgreesWithinThreePercent) {
  const Figure& figure = GetParam();
  const Hbm hbm = *hbm_preset("HBM2_8Gb_x128");
  const HbmMeasurement measured = simulate_hbm(hbm, figure.traffic, Seconds(40e-6), Seconds(400e-6));
  EXPECT_NEAR(measured.bandwidth / hbm.bandwidth / figure.share, 1, 0.03);
  if (figure.latency > 0) {
    EXPECT_NEAR(measured.read_latency.count() * 1e9 / figure.latency, 1, 0.03);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hbm2, DramSim3,
    testing::Values(Figure{"writes", all_writes(), 0.91943, 0},
                    Figure{"stride_2_kib", windowed(HbmPattern::strided, 64, 2048), 0.24546, 1041.9},
                    Figure{"one_bank", windowed(HbmPattern::strided, 64, 1048576), 0.00484, 0},
                    Figure{"idle_random", lone(HbmPattern::random, 0), 0.00179, 39.6},
                    Figure{"row_conflict", lone(HbmPattern::alternate_rows, 1048576), 0.0016, 55.9},
                    Figure{"four_streams_one_bank", lockstep(4), 0.22115, 1156.7}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace tandem
