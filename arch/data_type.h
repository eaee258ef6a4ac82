// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "arch/support/enum_names.h"
#include "arch/support/quantity.h"

namespace tandem {

enum class DataType { fp32, tf32, fp16, bf16, fp8, int8 };

template <>
struct EnumNames<DataType> {
  static constexpr auto values = std::to_array<std::pair<DataType, std::string_view>>({{DataType::fp32, "fp32"},
                                                                                       {DataType::tf32, "tf32"},
                                                                                       {DataType::fp16, "fp16"},
                                                                                       {DataType::bf16, "bf16"},
                                                                                       {DataType::fp8, "fp8"},
                                                                                       {DataType::int8, "int8"}});
};

/// Bytes of one element in memory (tf32 is stored as fp32).
constexpr Bytes size_of(DataType type) {
  switch (type) {
    case DataType::fp32:
    case DataType::tf32: return Bytes(4);
    case DataType::fp16:
    case DataType::bf16: return Bytes(2);
    case DataType::fp8:
    case DataType::int8: return Bytes(1);
  }
  return Bytes(0);
}

}  // namespace tandem
