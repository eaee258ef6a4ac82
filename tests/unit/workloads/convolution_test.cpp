// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution.h"

#include <gtest/gtest.h>

#include <set>

#include "arch/support/error.h"

namespace tandem {
namespace {

Convolution square(std::int64_t input, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  Convolution convolution;
  convolution.name = "conv";
  convolution.in_channels = convolution.out_channels = 64;
  convolution.height = convolution.width = {input, kernel, stride, 1, pad, pad};
  return convolution;
}

// He et al., "Deep Residual Learning" (arXiv 1512.03385), table 1: conv1 gives 112 x 112; SCALE-Sim rounds it to 113.
TEST(Convolution, StridedOutputsAreRoundedDown) {
  EXPECT_EQ(outputs_along({224, 7, 2, 1, 3, 3}), 112);
  EXPECT_EQ(outputs_along({230, 7, 2}), 112);
  EXPECT_EQ(outputs_along({56, 1, 2}), 28);
  EXPECT_EQ(outputs_along({58, 3, 2}), 28);
  EXPECT_EQ(outputs_along({3, 3}), 1);
  EXPECT_EQ(outputs_along({32, 3, 1, 4, 4, 4}), 32);
}

TEST(Convolution, LowersToAMatmulOfPatches) {
  Convolution first = square(224, 7, 2, 3);
  first.in_channels = 3;
  first.batch = 4;
  const LoweredConvolution lowered = lower_convolution(first);
  EXPECT_EQ(lowered.matmul.matmul, (MatmulShape{1, 4 * 112 * 112, 64, 147}));
  ASSERT_TRUE(lowered.im2col);
  // The stride leaves out the last row and column of padding alone: every pixel is read, once.
  EXPECT_EQ(lowered.im2col->hbm_bytes(), Bytes(2 * 4 * (224 * 224 * 3 + 112 * 112 * 147)));
  EXPECT_EQ(lowered.im2col->outputs.front().bytes, lowered.matmul.inputs.front().bytes);
  EXPECT_EQ(lowered.operators().size(), 2U);
}

// One tap, stride 2: the peer's own DRAM reads of a 56 x 56 x 256 input are a quarter of it, 200704 words.
TEST(Convolution, AStrideBeyondTheKernelSkipsInputs) {
  Convolution pointwise = square(56, 1, 2, 0);
  pointwise.in_channels = 256;
  pointwise.dtype = DataType::int8;
  const LoweredConvolution lowered = lower_convolution(pointwise);
  ASSERT_TRUE(lowered.im2col);
  EXPECT_EQ(lowered.im2col->inputs.front().bytes, Bytes(200704));
}

TEST(Convolution, APointwiseInputIsTheMatrix) {
  const LoweredConvolution lowered = lower_convolution(square(56, 1, 1, 0));
  EXPECT_FALSE(lowered.im2col);
  EXPECT_EQ(lowered.operators(), std::vector<Operator>{lowered.matmul});
  EXPECT_EQ(lowered.matmul, make_matmul("conv", {1, 56 * 56, 64, 64}, DataType::bf16));
}

TEST(Convolution, GroupsAreABatch) {
  Convolution depthwise = square(56, 3, 1, 1);
  depthwise.groups = 64;
  const LoweredConvolution lowered = lower_convolution(depthwise);
  EXPECT_EQ(lowered.matmul.kind, OperatorKind::batched_matmul);
  EXPECT_EQ(lowered.matmul.matmul, (MatmulShape{64, 56 * 56, 1, 9}));
  EXPECT_EQ(lowered.im2col->outputs.front().bytes, lowered.matmul.inputs.front().bytes);
  depthwise.groups = 16;
  EXPECT_EQ(lower_convolution(depthwise).matmul.matmul, (MatmulShape{16, 56 * 56, 4, 36}));
}

TEST(Convolution, GroupsDivideTheWork) {
  const Flops whole = lower_convolution(square(28, 3, 1, 1)).matmul.flops();
  Convolution grouped = square(28, 3, 1, 1);
  grouped.groups = 8;
  EXPECT_EQ(lower_convolution(grouped).matmul.flops().value() * 8, whole.value());
}

TEST(Convolution, OnTheFlyTheInputIsMovedAlone) {
  const Convolution convolution = square(56, 3, 1, 1);
  const LoweredConvolution lowered = lower_convolution(convolution, Im2col::on_the_fly);
  EXPECT_FALSE(lowered.im2col);
  EXPECT_EQ(lowered.matmul.inputs.front().bytes, Bytes(2 * 56 * 56 * 64));
  EXPECT_EQ(lowered.matmul.matmul, lower_convolution(convolution).matmul.matmul);
}

/// Every position of the window and every tap, by the definition.
std::int64_t met_by_definition(const ConvolutionAxis& axis, std::int64_t outputs) {
  std::set<std::int64_t> met;
  for (std::int64_t output = 0; output < outputs; ++output) {
    for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
      const std::int64_t at = output * axis.stride + tap * axis.dilation - axis.pad_before;
      if (at >= 0 && at < axis.input) met.insert(at);
    }
  }
  return static_cast<std::int64_t>(met.size());
}

TEST(Convolution, CountsOutputsAndInputsMetForEverySmallAxis) {
  for (std::int64_t input = 1; input <= 12; ++input) {
    for (std::int64_t kernel = 1; kernel <= 4; ++kernel) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
          for (std::int64_t pad = 0; pad <= 3; ++pad) {
            const ConvolutionAxis axis{input, kernel, stride, dilation, pad, pad / 2};
            std::int64_t outputs = 0;
            for (std::int64_t at = -pad; at + dilation * (kernel - 1) < input + pad / 2; at += stride) ++outputs;
            if (outputs == 0) {
              EXPECT_THROW((void)outputs_along(axis), ConfigError);
              continue;
            }
            ASSERT_EQ(outputs_along(axis), outputs);
            ASSERT_EQ(inputs_met_along(axis), met_by_definition(axis, outputs))
                << input << ' ' << kernel << ' ' << stride << ' ' << dilation << ' ' << pad;
          }
        }
      }
    }
  }
}

TEST(Convolution, RefusesWhatIsNotSound) {
  Convolution convolution = square(56, 3, 1, 1);
  convolution.groups = 5;
  EXPECT_THROW(lower_convolution(convolution), ConfigError);
  convolution.groups = 0;
  EXPECT_THROW(lower_convolution(convolution), ConfigError);
  EXPECT_THROW(lower_convolution(square(2, 5, 1, 1)), ConfigError);
  EXPECT_THROW(lower_convolution(square(56, 3, 0, 1)), ConfigError);
  EXPECT_THROW(lower_convolution(square(56, 3, 1, -1)), ConfigError);
  EXPECT_THROW(lower_convolution(square(std::int64_t{1} << 62, 3, 1, 1)), ConfigError);
}

}  // namespace
}  // namespace tandem
