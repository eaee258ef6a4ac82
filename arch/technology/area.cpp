// SPDX-License-Identifier: Apache-2.0
#include "arch/area.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "arch/support/error.h"

namespace tandem {
namespace {

/// Area of one macro: linear between entries, at the end entries' density outside them.
Area sram_area(const std::map<Bytes, Area>& macros, Bytes capacity) {
  if (capacity.value() == 0 || macros.empty()) return Area(0);
  const auto upper = macros.lower_bound(capacity);
  if (upper == macros.begin()) return upper->second * (capacity / upper->first);
  const auto lower = std::prev(upper);
  if (upper == macros.end()) return lower->second * (capacity / lower->first);
  if (upper->first == capacity) return upper->second;
  const double position = (capacity - lower->first) / (upper->first - lower->first);
  return lower->second + (upper->second - lower->second) * position;
}

Area local_buffer_area(const Chip& chip, const Technology& technology) {
  const Area tensor = sram_area(technology.local_sram, chip.tensor.local_buffer) * chip.tensor.count;
  const Area vector = sram_area(technology.local_sram, chip.vector.local_buffer) * chip.vector.count;
  return chip.vector.shares_local_buffer ? std::max(tensor, vector) : tensor + vector;
}

std::int64_t noc_ports(const Chip& chip) {
  return chip.vector.shares_local_buffer ? std::max(chip.tensor.count, chip.vector.count)
                                         : chip.tensor.count + chip.vector.count;
}

Energy mac_energy(const Technology& technology, DataType dtype) {
  const auto entry = technology.mac_energy.find(dtype);
  if (entry == technology.mac_energy.end()) {
    throw ConfigError(fmt::format("technology {} states no energy of a {} MAC", technology.name, name_of(dtype)));
  }
  return entry->second;
}

double square_millimetres(Area area) { return area.value() * 1e-6; }

Power moving(Bandwidth rate, Energy per_byte) { return Power(rate.value() * per_byte.value() * 1e-12); }

/// Operand bytes that the arrays of all tensor cores take in at full rate: a row and a column vector per array and
/// step, or what the local buffers can deliver.
Bandwidth operand_rate(const Chip& chip, DataType dtype) {
  const TensorCores& tensor = chip.tensor;
  const double relative = chip.supports(dtype) ? tensor.macs_per_pe.at(dtype) : 0.0;
  const double elements = static_cast<double>(tensor.arrays * (tensor.rows + tensor.cols)) * relative;
  Bandwidth core(elements * static_cast<double>(size_of(dtype).value()) * chip.clock.value());
  if (tensor.local_bandwidth.value() > 0) core = std::min(core, tensor.local_bandwidth);
  return core * tensor.count;
}

}  // namespace

Area ChipArea::total() const {
  return tensor_cores + vector_cores + local_buffers + global_buffer + noc + hbm + links + other;
}

Energy ChipEnergy::total() const {
  return tensor_cores + vector_cores + local_buffers + global_buffer + noc + hbm + links + leakage;
}

ChipArea estimate_area(const Chip& chip, const Technology& technology, std::int64_t links) {
  const TensorCores& tensor = chip.tensor;
  const std::int64_t macs = checked_product(tensor.count, tensor.arrays, tensor.rows, tensor.cols);
  return {.tensor_cores = technology.mac * macs,
          .vector_cores = technology.lane * checked_product(chip.vector.count, chip.vector.lanes),
          .local_buffers = local_buffer_area(chip, technology),
          .global_buffer = sram_area(technology.global_sram, chip.glb.capacity),
          .noc = technology.noc_per_core * noc_ports(chip),
          .hbm = technology.hbm_per_channel * chip.hbm.channels(),
          .links = technology.link * links,
          .other = technology.fixed};
}

ChipEnergy estimate_energy(const AccessCounts& counts, DataType dtype, const Technology& technology, Area area,
                           Seconds time) {
  const double leakage_watts = technology.leakage_w_per_mm2 * square_millimetres(area);
  return {.tensor_cores = counts.macs == 0 ? Energy(0) : mac_energy(technology, dtype) * counts.macs,
          .vector_cores = technology.lane_energy * counts.vector_operations,
          .local_buffers = technology.local_byte * counts.local.value(),
          .global_buffer = technology.global_byte * counts.global.value(),
          .noc = technology.noc_byte * counts.noc.value(),
          .hbm = technology.hbm_byte * counts.hbm.value(),
          .links = technology.link_byte * counts.link.value(),
          .leakage = Energy(leakage_watts * time.count() * 1e12)};
}

Power estimate_peak_power(const Chip& chip, const Technology& technology, DataType dtype) {
  const double macs_per_second = chip.peak(dtype).value() / 2;
  const Power arithmetic(macs_per_second == 0 ? 0 : macs_per_second * mac_energy(technology, dtype).value() * 1e-12);
  const Power local = moving(operand_rate(chip, dtype), technology.local_byte);
  const Bandwidth to_cores = std::min(chip.glb.bandwidth, chip.noc.port_bandwidth * noc_ports(chip));
  const Power on_chip = moving(to_cores, technology.global_byte) + moving(to_cores, technology.noc_byte);
  const Power memory = moving(chip.hbm.bandwidth, technology.hbm_byte);
  const Area area = estimate_area(chip, technology).total();
  const Power leakage(technology.leakage_w_per_mm2 * square_millimetres(area));
  return arithmetic + local + on_chip + memory + leakage;
}

}  // namespace tandem
