// SPDX-License-Identifier: Apache-2.0
// Small machines for tests.
#pragma once

#include "arch/cluster.h"

namespace tandem {

/// Four 16 x 16 cores at 1 GHz (2.048 TFLOP/s), ideal HBM of 100 GB/s.
inline Chip small_chip() {
  Chip chip;
  chip.name = "small";
  chip.clock = Frequency(1e9);
  chip.tensor.count = 4;
  chip.tensor.rows = 16;
  chip.tensor.cols = 16;
  chip.tensor.local_buffer = Bytes(64 * 1024);
  chip.tensor.macs_per_pe = {{DataType::bf16, 1.0}, {DataType::fp32, 0.5}};
  chip.vector.count = 4;
  chip.vector.lanes = 32;
  chip.vector.local_buffer = Bytes(64 * 1024);
  chip.glb.capacity = Bytes(4 * 1024 * 1024);
  chip.glb.bandwidth = Bandwidth(1e12);
  chip.glb.latency = Seconds(20e-9);
  chip.noc.port_bandwidth = Bandwidth(128e9);
  chip.noc.latency = Seconds(10e-9);
  chip.dma.engines = 4;
  chip.dma.setup = Seconds(20e-9);
  chip.hbm.stacks = 1;
  chip.hbm.channels_per_stack = 8;
  chip.hbm.capacity = Bytes(std::int64_t{16} << 30);
  chip.hbm.bandwidth = Bandwidth(100e9);
  chip.hbm.atom = Bytes(32);
  chip.launch.device_tensor = Seconds(1e-6);
  chip.launch.device_vector = Seconds(1e-6);
  return chip;
}

/// `nodes` of `per_node` small chips: a switch inside, a fat tree between.
inline Cluster small_cluster(std::int64_t nodes, std::int64_t per_node) {
  Level inside;
  inside.name = "node";
  inside.dims = {per_node};
  inside.link_bandwidth = Bandwidth(50e9);
  inside.link_latency = Seconds(500e-9);
  Level between = inside;
  between.name = "cluster";
  between.kind = LevelKind::fat_tree;
  between.dims = {nodes};
  between.links = 4;
  between.link_bandwidth = Bandwidth(10e9);
  Cluster cluster;
  cluster.name = "small";
  cluster.chip = small_chip();
  cluster.levels = {inside, between};
  cluster.overhead = {Seconds(5e-6), Seconds(1e-6), Seconds(2e-6)};
  cluster.iteration_overhead = Seconds(1e-3);
  return cluster;
}

}  // namespace tandem
