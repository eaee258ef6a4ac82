// SPDX-License-Identifier: Apache-2.0
#include "tools/against/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "arch/config.h"
#include "arch/reference_names.h"

namespace tandem {
namespace {

bool starts_with_any(const std::string& text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

}  // namespace

Chip chip_of_row(const std::string& device, const MachineOverride& machine) {
  if (machine.chip) return *machine.chip;
  const auto name = load_reference_names().chip_for(device);
  if (!name)
    throw RowFailure("unknown device", fmt::format("no shipped chip stands for '{}'; --chip names one", device));
  return load_chip(find_config("chip", *name));
}

Cluster cluster_of_row(const std::string& hardware, const std::string& network, const MachineOverride& machine) {
  if (machine.cluster) return *machine.cluster;
  const ReferenceNames names = load_reference_names();
  auto name = names.cluster_for(network);
  if (!name) name = names.cluster_for(hardware);
  if (!name) {
    throw RowFailure("unknown system",
                     fmt::format("no shipped cluster stands for '{}' or '{}'; --cluster names one", network, hardware));
  }
  Cluster cluster = load_cluster(find_config("cluster", *name));
  const Chip chip = chip_of_row(hardware, machine);
  // The same network joins other chips too.
  if (chip.name != cluster.chip.name) {
    cluster.name += " of " + chip.name;
    cluster.chip = chip;
  }
  return cluster;
}

DataType dtype_of_row(const std::string& text) {
  if (starts_with_any(text, {"bf16", "amp_bf16"})) return DataType::bf16;
  if (starts_with_any(text, {"fp16", "mixed"})) return DataType::fp16;
  if (starts_with_any(text, {"fp8", "FP8", "MXFP8", "amp_fp8"})) return DataType::fp8;
  if (text.starts_with("fp32")) return DataType::fp32;
  if (text.starts_with("tf32")) return DataType::tf32;
  if (text.starts_with("int8")) return DataType::int8;
  throw RowFailure("unknown data type", text.empty() ? "none stated" : text);
}

}  // namespace tandem
