// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "arch/hbm_presets.h"
#include "search/hbm_traffic_rate.h"
#include "sim/hbm_simulation.h"

namespace tandem {
namespace {

class HbmTrafficProperty : public testing::TestWithParam<unsigned> {
 protected:
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  Hbm memory() {
    const auto names = hbm_preset_names();
    Hbm hbm = *hbm_preset(names[static_cast<std::size_t>(whole(0, static_cast<std::int64_t>(names.size()) - 1))]);
    hbm.controller.page_policy = whole(0, 2) == 0 ? PagePolicy::close : PagePolicy::open;
    hbm.controller.scheduling = whole(0, 2) == 0 ? HbmScheduling::in_order : HbmScheduling::first_ready;
    hbm.controller.refresh = whole(0, 2) == 0 ? HbmRefresh::per_bank : HbmRefresh::all_bank;
    hbm.controller.bank_queue = whole(1, 16);
    hbm.controller.read_queue = whole(1, 64);
    hbm.controller.write_queue = whole(1, 64);
    return hbm;
  }

  HbmTraffic traffic() {
    HbmTraffic traffic;
    traffic.pattern = static_cast<HbmPattern>(whole(0, 6));
    traffic.request = Bytes(whole(1, 4096));
    traffic.stride = Bytes(whole(1, 1 << 20));
    traffic.tile_rows = whole(1, 64);
    traffic.tile_row = Bytes(64 * whole(1, 32));
    traffic.tile_pitch = traffic.tile_row * whole(1, 64);
    traffic.streams = whole(1, 8);
    traffic.stream_offset = Bytes(64 * whole(0, 1 << 20));
    traffic.destination_offset = Bytes(64 * whole(0, 1 << 20));
    traffic.writes = static_cast<double>(whole(0, 4)) / 4;
    traffic.window = Bytes(whole(4096, 1 << 18));
    traffic.one_at_a_time = whole(0, 3) == 0;
    traffic.gap = Seconds(1e-9 * static_cast<double>(whole(0, 200)));
    traffic.offered = whole(0, 3) == 0 ? 0.25 : 0;
    return traffic;
  }

 private:
  std::mt19937 random_{GetParam()};
};

constexpr Seconds kWarm(2e-6), kMeasured(20e-6);

TEST_P(HbmTrafficProperty, NothingIsLostAndThePeakHolds) {
  const Hbm hbm = memory();
  const HbmTraffic t = traffic();
  const HbmMeasurement measured = simulate_hbm(hbm, t, kWarm, kMeasured);
  // Writes are counted when they are taken in: what queues can hold more at the end than at the start is no transfer.
  const double room =
      static_cast<double>((hbm.atom * (hbm.channels() * (hbm.controller.write_queue + 2 * hbm.timing.bank_groups *
                                                                                          hbm.timing.banks_per_group *
                                                                                          hbm.controller.bank_queue)))
                              .value());
  const double slack = measured.written > Bytes(0) ? room : static_cast<double>((hbm.atom * hbm.channels()).value());
  const double moved = static_cast<double>((measured.read + measured.written).value());
  EXPECT_LE(moved, hbm.bandwidth.value() * kMeasured.count() * 1.001 + slack);
  EXPECT_GT(measured.issued, Bytes(0));
  EXPECT_LE(measured.answered, measured.issued);
  if (t.offered <= 0) {
    EXPECT_LE(measured.issued - measured.answered, t.window);
  }
  EXPECT_GE(measured.decisions * hbm.timing.page.value(),
            (measured.read + measured.written - Bytes(static_cast<std::int64_t>(slack))).value());
}

TEST_P(HbmTrafficProperty, SameTrafficSameAnswer) {
  const Hbm hbm = memory();
  const HbmTraffic t = traffic();
  const HbmMeasurement first = simulate_hbm(hbm, t, kWarm, kMeasured), again = simulate_hbm(hbm, t, kWarm, kMeasured);
  EXPECT_EQ(first.bandwidth, again.bandwidth);
  EXPECT_EQ(first.read_latency, again.read_latency);
  EXPECT_EQ(first.activations, again.activations);
}

TEST_P(HbmTrafficProperty, PredictionIsPositiveAndBelowThePeak) {
  const Hbm hbm = memory();
  const HbmPrediction predicted = predict_hbm(hbm, traffic());
  EXPECT_GT(predicted.bandwidth.value(), 0);
  EXPECT_LE(predicted.bandwidth / hbm.bandwidth, 1);
  EXPECT_GT(predicted.read_latency.count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Random, HbmTrafficProperty, testing::Range(0u, 40u));

TEST(HbmChannels, MoreAreNeverSlower) {
  for (const HbmPattern pattern : {HbmPattern::sequential, HbmPattern::random}) {
    double last = 0;
    for (const std::int64_t channels : {1, 2, 4, 8, 16}) {
      Hbm hbm = *hbm_preset("HBM2_8Gb_x128");
      hbm.bandwidth = hbm.bandwidth * (static_cast<double>(channels) / static_cast<double>(hbm.channels()));
      hbm.channels_per_stack = channels;
      HbmTraffic t;
      t.pattern = pattern;
      t.window = Bytes(1 << 16);
      const double rate = simulate_hbm(hbm, t, kWarm, kMeasured).bandwidth.value();
      EXPECT_GT(rate, last) << channels << " channels, pattern " << name_of(pattern);
      last = rate;
    }
  }
}

}  // namespace
}  // namespace tandem
