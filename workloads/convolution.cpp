// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution.h"

#include <algorithm>

#include "arch/support/error.h"

namespace tandem {
namespace {

/// Larger inputs than any image; keeps sums of the fields within 64 bits.
constexpr std::int64_t kLongestAxis = 1 << 20;

void check(const ConvolutionAxis& axis) {
  const auto in_range = [](std::int64_t value, std::int64_t least) { return value >= least && value <= kLongestAxis; };
  const bool sound = in_range(axis.input, 1) && in_range(axis.kernel, 1) && in_range(axis.stride, 1) &&
                     in_range(axis.dilation, 1) && in_range(axis.pad_before, 0) && in_range(axis.pad_after, 0);
  if (!sound) {
    throw ConfigError("convolution: input, kernel, stride and dilation must be from 1 to 2^20, padding from 0");
  }
}

void check(const Convolution& convolution) {
  const auto& [name, batch, in_channels, out_channels, groups, height, width, dtype] = convolution;
  if (batch < 1 || in_channels < 1 || out_channels < 1 || groups < 1) {
    throw ConfigError("convolution " + in_quotes(name) + ": batch, channels and groups must be positive");
  }
  if (in_channels % groups != 0 || out_channels % groups != 0) {
    throw ConfigError("convolution " + in_quotes(name) + ": groups must divide the channels of input and output");
  }
}

/// The matrix of patches is the input as it stands in memory.
bool is_matrix(const ConvolutionAxis& axis) {
  return axis.kernel == 1 && axis.stride == 1 && axis.pad_before == 0 && axis.pad_after == 0;
}

}  // namespace

std::int64_t outputs_along(const ConvolutionAxis& axis) {
  check(axis);
  const std::int64_t reach = checked_product(axis.dilation, axis.kernel - 1) + 1;
  const std::int64_t room = axis.input + axis.pad_before + axis.pad_after - reach;
  if (room < 0) throw ConfigError("convolution: the window is larger than the padded input");
  return room / axis.stride + 1;
}

std::int64_t inputs_met_along(const ConvolutionAxis& axis) {
  const std::int64_t outputs = outputs_along(axis);
  // Windows of which `at` is a tap are those of `at - dilation`, plus those that begin here, less those that have
  // ended.
  std::vector<std::int64_t> windows(static_cast<std::size_t>(axis.input + axis.dilation));
  for (std::int64_t output = 0; output < outputs; ++output) {
    const std::int64_t start = output * axis.stride - axis.pad_before;
    const std::int64_t first = start >= 0 ? 0 : ceil_div(-start, axis.dilation);
    if (start >= axis.input) break;
    const std::int64_t last = std::min(axis.kernel - 1, (axis.input - 1 - start) / axis.dilation);
    if (first > last) continue;
    ++windows[static_cast<std::size_t>(start + first * axis.dilation)];
    --windows[static_cast<std::size_t>(start + (last + 1) * axis.dilation)];
  }
  std::int64_t met = 0;
  for (std::int64_t at = 0; at < axis.input; ++at) {
    if (at >= axis.dilation) {
      windows[static_cast<std::size_t>(at)] += windows[static_cast<std::size_t>(at - axis.dilation)];
    }
    met += windows[static_cast<std::size_t>(at)] > 0 ? 1 : 0;
  }
  return met;
}

std::vector<Operator> LoweredConvolution::operators() const {
  if (!im2col) return {matmul};
  return {*im2col, matmul};
}

LoweredConvolution lower_convolution(const Convolution& convolution, Im2col im2col) {
  check(convolution);
  const auto& [name, batch, in_channels, out_channels, groups, height, width, dtype] = convolution;
  const std::int64_t positions = checked_product(batch, outputs_along(height), outputs_along(width));
  const std::int64_t taps = checked_product(height.kernel, width.kernel);
  const Bytes met =
      size_of(dtype) * checked_product(batch, inputs_met_along(height), inputs_met_along(width), in_channels);
  LoweredConvolution lowered;
  lowered.matmul =
      make_matmul(name, {groups, positions, out_channels / groups, checked_product(taps, in_channels / groups)}, dtype);
  if (im2col == Im2col::on_the_fly) {
    // Patches of windows that overlap share elements; so wide a stride that they do not leaves them as they are.
    lowered.matmul.inputs.front().bytes = std::min(met, lowered.matmul.inputs.front().bytes);
    return lowered;
  }
  if (is_matrix(height) && is_matrix(width)) return lowered;
  lowered.im2col =
      make_vector(name + ".im2col", OperatorKind::copy, {positions, checked_product(taps, in_channels)}, dtype);
  lowered.im2col->inputs.front().bytes = met;
  return lowered;
}

}  // namespace tandem
