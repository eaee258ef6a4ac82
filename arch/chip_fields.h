// SPDX-License-Identifier: Apache-2.0
// Every field of a chip file by its YAML path: the one table that reading, writing and design spaces work through.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "arch/chip.h"
#include "arch/config_io.h"
#include "arch/machine_checks.h"
#include "arch/support/config_reader.h"

namespace tandem {

/// Kinds of operator that `launch.host` may name, besides "other": those of workloads/operator.h.
inline constexpr auto kLaunchKinds = std::to_array<std::string_view>(
    {"matmul",        "batched_matmul", "softmax",      "layernorm", "rmsnorm",   "gelu",       "relu",
     "silu_mul",      "bias_add",       "residual_add", "rotary",    "dropout",   "scale_mask", "embedding",
     "cross_entropy", "router",         "copy",         "reduce",    "optimizer", "other"});

namespace chip_fields {

namespace checks = machine_checks;

template <typename Tensor, typename Visit>
void visit_tensor_cores(Tensor& tensor, Visit&& visit) {
  visit("tensor_cores.count", tensor.count, checks::count, Presence::required);
  visit("tensor_cores.arrays", tensor.arrays, checks::extent, Presence::optional);
  visit("tensor_cores.rows", tensor.rows, checks::extent, Presence::required);
  visit("tensor_cores.cols", tensor.cols, checks::extent, Presence::required);
  visit("tensor_cores.dataflow", tensor.dataflow, any_value, Presence::required);
  visit("tensor_cores.overlap_folds", tensor.overlap_folds, any_value, Presence::optional);
  visit("tensor_cores.accumulators", tensor.accumulators, any_value, Presence::optional);
  visit("tensor_cores.local_buffer", tensor.local_buffer, checks::capacity, Presence::required);
  visit("tensor_cores.local_bandwidth", tensor.local_bandwidth, checks::rate_or_none, Presence::optional);
  visit("tensor_cores.sustained", tensor.sustained, checks::share, Presence::optional);
  visit("tensor_cores.row_alignment", tensor.row_alignment, checks::capacity_or_none, Presence::optional);
  visit("tensor_cores.misaligned", tensor.misaligned, checks::share, Presence::optional);
  visit("tensor_cores.task_overhead", tensor.task_overhead, checks::delay, Presence::optional);
  visit("tensor_cores.tiles", tensor.tiles, any_value, Presence::optional);
  visit("tensor_cores.macs_per_pe", tensor.macs_per_pe, checks::per_cycle, Presence::required);
}

template <typename Vector, typename Visit>
void visit_vector_cores(Vector& vector, Visit&& visit) {
  visit("vector_cores.count", vector.count, checks::count, Presence::required);
  visit("vector_cores.lanes", vector.lanes, checks::count, Presence::required);
  visit("vector_cores.local_buffer", vector.local_buffer, checks::capacity, Presence::required);
  visit("vector_cores.local_bandwidth", vector.local_bandwidth, checks::rate_or_none, Presence::optional);
  visit("vector_cores.shares_local_buffer", vector.shares_local_buffer, any_value, Presence::optional);
  visit("vector_cores.row_kernels", vector.row_kernels, checks::per_cycle, Presence::optional);
  visit("vector_cores.throughput.simple", vector.throughput[0], checks::per_cycle, Presence::optional);
  visit("vector_cores.throughput.multiply_add", vector.throughput[1], checks::per_cycle, Presence::optional);
  visit("vector_cores.throughput.divide", vector.throughput[2], checks::per_cycle, Presence::optional);
  visit("vector_cores.throughput.exponential", vector.throughput[3], checks::per_cycle, Presence::optional);
  visit("vector_cores.throughput.reduce", vector.throughput[4], checks::per_cycle, Presence::optional);
}

template <typename ChipT, typename Visit>
void visit_transport(ChipT& chip, Visit&& visit) {
  visit("global_buffer.capacity", chip.glb.capacity, checks::capacity, Presence::required);
  visit("global_buffer.banks", chip.glb.banks, checks::count, Presence::optional);
  visit("global_buffer.bandwidth", chip.glb.bandwidth, checks::rate, Presence::required);
  visit("global_buffer.latency", chip.glb.latency, checks::delay, Presence::optional);
  visit("noc.port_bandwidth", chip.noc.port_bandwidth, checks::rate, Presence::required);
  visit("noc.latency", chip.noc.latency, checks::delay, Presence::optional);
  visit("noc.multicast", chip.noc.multicast, any_value, Presence::optional);
  visit("dma.engines", chip.dma.engines, checks::count, Presence::optional);
  visit("dma.setup", chip.dma.setup, checks::delay, Presence::optional);
  visit("dma.max_outstanding", chip.dma.max_outstanding, checks::capacity, Presence::required);
}

template <typename Timing, typename Visit>
void visit_hbm_timing(Timing& timing, Visit&& visit) {
  visit("hbm.timing.trcd", timing.trcd, checks::delay, Presence::optional);
  visit("hbm.timing.trp", timing.trp, checks::delay, Presence::optional);
  visit("hbm.timing.tras", timing.tras, checks::delay, Presence::optional);
  visit("hbm.timing.tcl", timing.tcl, checks::delay, Presence::optional);
  visit("hbm.timing.tccd_s", timing.tccd_s, checks::delay, Presence::optional);
  visit("hbm.timing.tccd_l", timing.tccd_l, checks::delay, Presence::optional);
  visit("hbm.timing.trrd", timing.trrd, checks::delay, Presence::optional);
  visit("hbm.timing.tfaw", timing.tfaw, checks::delay, Presence::optional);
  visit("hbm.timing.twtr", timing.twtr, checks::delay, Presence::optional);
  visit("hbm.timing.trtw", timing.trtw, checks::delay, Presence::optional);
  visit("hbm.timing.trefi", timing.trefi, checks::delay, Presence::optional);
  visit("hbm.timing.trfc", timing.trfc, checks::delay, Presence::optional);
  visit("hbm.timing.tck", timing.tck, checks::delay, Presence::optional);
  visit("hbm.timing.trcd_wr", timing.trcd_wr, checks::delay, Presence::optional);
  visit("hbm.timing.tcwl", timing.tcwl, checks::delay, Presence::optional);
  visit("hbm.timing.trrd_l", timing.trrd_l, checks::delay, Presence::optional);
  visit("hbm.timing.twtr_s", timing.twtr_s, checks::delay, Presence::optional);
  visit("hbm.timing.twr", timing.twr, checks::delay, Presence::optional);
  visit("hbm.timing.trtp", timing.trtp, checks::delay, Presence::optional);
  visit("hbm.timing.trfc_pb", timing.trfc_pb, checks::delay, Presence::optional);
  visit("hbm.timing.page", timing.page, checks::capacity_or_none, Presence::optional);
  visit("hbm.timing.bank_groups", timing.bank_groups, checks::extent, Presence::optional);
  visit("hbm.timing.banks_per_group", timing.banks_per_group, checks::extent, Presence::optional);
}

template <typename Controller, typename Visit>
void visit_hbm_controller(Controller& controller, Visit&& visit) {
  visit("hbm.controller.page_policy", controller.page_policy, any_value, Presence::optional);
  visit("hbm.controller.scheduling", controller.scheduling, any_value, Presence::optional);
  visit("hbm.controller.refresh", controller.refresh, any_value, Presence::optional);
  visit("hbm.controller.bank_queue", controller.bank_queue, checks::extent, Presence::optional);
  visit("hbm.controller.read_queue", controller.read_queue, checks::extent, Presence::optional);
  visit("hbm.controller.write_queue", controller.write_queue, checks::extent, Presence::optional);
  visit("hbm.controller.write_mark", controller.write_mark, checks::extent, Presence::optional);
  visit("hbm.controller.row_hits", controller.row_hits, checks::extent, Presence::optional);
  visit("hbm.controller.mapping", controller.mapping, any_value, Presence::optional);
  visit("hbm.controller.interleave", controller.interleave, checks::capacity_or_none, Presence::optional);
}

template <typename HbmT, typename Visit>
void visit_hbm(HbmT& hbm, Visit&& visit) {
  visit("hbm.generation", hbm.generation, any_value, Presence::required);
  visit("hbm.stacks", hbm.stacks, checks::extent, Presence::required);
  visit("hbm.channels_per_stack", hbm.channels_per_stack, checks::extent, Presence::required);
  visit("hbm.capacity", hbm.capacity, checks::capacity, Presence::required);
  visit("hbm.bandwidth", hbm.bandwidth, checks::rate, Presence::optional);  // or by pin rate: see chip_config.cpp
  visit("hbm.sustained", hbm.sustained, checks::share, Presence::optional);
  visit("hbm.atom", hbm.atom, checks::capacity, Presence::required);
  visit_hbm_timing(hbm.timing, visit);
  visit_hbm_controller(hbm.controller, visit);
}

}  // namespace chip_fields

/// Calls visit(path, field, check, presence) for every field, fields of one section in a row. Maps (MACs per PE by
/// type, host launch times by kind) are one field each; `check` is then for their values.
template <typename ChipT, typename Visit>
void visit_chip_fields(ChipT& chip, Visit&& visit) {
  visit("name", chip.name, any_value, Presence::required);
  visit("clock", chip.clock, machine_checks::clock, Presence::required);
  visit("technology", chip.technology, any_value, Presence::optional);
  visit("tdp", chip.tdp, machine_checks::watts, Presence::optional);
  chip_fields::visit_tensor_cores(chip.tensor, visit);
  chip_fields::visit_vector_cores(chip.vector, visit);
  chip_fields::visit_transport(chip, visit);
  chip_fields::visit_hbm(chip.hbm, visit);
  visit("launch.device_tensor", chip.launch.device_tensor, machine_checks::delay, Presence::optional);
  visit("launch.device_vector", chip.launch.device_vector, machine_checks::delay, Presence::optional);
  visit("launch.host", chip.launch.host, machine_checks::delay, Presence::optional);
}

}  // namespace tandem
