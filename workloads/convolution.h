// SPDX-License-Identifier: Apache-2.0
// Two-dimensional convolutions, lowered to matmuls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/operator.h"

namespace tandem {

/// A window that slides along one axis of the input.
struct ConvolutionAxis {
  std::int64_t input = 0;   ///< without padding
  std::int64_t kernel = 1;  ///< taps
  std::int64_t stride = 1;
  std::int64_t dilation = 1;  ///< distance of taps
  std::int64_t pad_before = 0, pad_after = 0;
  bool operator==(const ConvolutionAxis&) const = default;
};

/// NHWC. Depthwise: groups = in_channels.
struct Convolution {
  std::string name;
  std::int64_t batch = 1;
  std::int64_t in_channels = 0, out_channels = 0, groups = 1;
  ConvolutionAxis height, width;
  DataType dtype = DataType::bf16;
};

/// Positions of the window that lie wholly in the padded input: floor((input + padding - reach) / stride) + 1 with
/// reach = dilation (kernel - 1) + 1. ConfigError if the axis is not sound or there is none.
std::int64_t outputs_along(const ConvolutionAxis& axis);
/// Distinct input elements that some tap meets, padding excluded: a stride beyond the kernel skips some, and so does a
/// dilation that shares a factor with the stride.
std::int64_t inputs_met_along(const ConvolutionAxis& axis);

/// Where the matrix of patches stands.
enum class Im2col {
  in_memory,   ///< an operator of its own writes it, the matmul reads it
  on_the_fly,  ///< patches are gathered as blocks load: HBM holds and moves the input alone
};

/// `matmul` is C[group, batch oh ow, out_channels / groups] with K = kh kw in_channels / groups.
struct LoweredConvolution {
  /// Reads the input elements met once and writes kh kw of them per output; absent where the input is the matrix as it
  /// stands (one tap, stride 1, no padding), and on the fly.
  std::optional<Operator> im2col;
  Operator matmul;

  [[nodiscard]] std::vector<Operator> operators() const;
};

/// ConfigError for sizes that are not positive, channels that groups do not divide, windows larger than the input.
/// Source: Chellapilla et al., "High Performance Convolutional Neural Networks for Document Processing", 2006
/// (unrolling of the input); Chetlur et al., cuDNN (arXiv 1410.0759), section 3 (lowering on the fly).
LoweredConvolution lower_convolution(const Convolution& convolution, Im2col im2col = Im2col::in_memory);

}  // namespace tandem
