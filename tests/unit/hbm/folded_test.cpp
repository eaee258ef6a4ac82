// SPDX-License-Identifier: Apache-2.0
// The chip's channel folds long sequential pieces; the event model serves them row by row.
#include <gtest/gtest.h>

#include "arch/hbm_presets.h"
#include "sim/chip/hbm_channel.h"
#include "sim/hbm_simulation.h"

namespace tandem {
namespace {

class FoldedChannel : public testing::TestWithParam<const char*> {};

TEST_P(FoldedChannel, IsAsFastAsTheEventModelOnASequentialStream) {
  const Hbm hbm = *hbm_preset(GetParam());
  sim::HbmChannel channel(sim::make_channel_spec(hbm, 0));
  constexpr std::int64_t kBytes = 1 << 22;
  const sim::Path done = channel.serve(sim::Access::read, Bytes(kBytes), {}).done;
  const double folded = static_cast<double>(kBytes * hbm.channels()) / to_seconds(done.at).count();
  HbmTraffic traffic;
  traffic.window = Bytes(std::int64_t{1} << 18);
  const double served = simulate_hbm(hbm, traffic, Seconds(7.8e-6), Seconds(78e-6)).bandwidth.value();
  EXPECT_NEAR(folded / served, 1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Memories, FoldedChannel, testing::Values("HBM2_8Gb_x128", "HBM2", "HBM2E", "HBM3", "HBM3E"));

}  // namespace
}  // namespace tandem
