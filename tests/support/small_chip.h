// SPDX-License-Identifier: Apache-2.0
// A chip with round numbers, so that times can be worked out by hand: 1 GHz, 2 tensor cores 4x4, 1 vector core of 4
// lanes, 64 B/ns of HBM on 4 channels, 128 B/ns of global buffer, 32 B/ns NoC ports; latencies and overheads of zero.
#pragma once

#include "arch/chip.h"
#include "workloads/mapping.h"
#include "workloads/operator.h"

namespace tandem::test {

inline Chip small_chip() {
  Chip chip;
  chip.name = "small";
  chip.clock = Frequency(1e9);
  chip.tensor = {
      .count = 2, .rows = 4, .cols = 4, .local_buffer = Bytes(1 << 16), .macs_per_pe = {{DataType::bf16, 1.0}}};
  chip.vector = {.count = 1, .lanes = 4, .local_buffer = Bytes(1 << 16), .throughput = {1, 1, 1, 1, 1}};
  chip.glb = {.capacity = Bytes(1 << 20), .banks = 1, .bandwidth = Bandwidth(128e9)};
  chip.noc = {.port_bandwidth = Bandwidth(32e9)};
  chip.dma = {.engines = 2};
  chip.hbm = {.generation = "HBM2",
              .stacks = 2,
              .channels_per_stack = 2,
              .capacity = Bytes(1 << 30),
              .bandwidth = Bandwidth(64e9),
              .atom = Bytes(16)};
  return chip;
}

/// The whole operator as one block, on the first `cores` tensor cores.
inline Mapping whole_block(const Operator& op, TileShape tile, std::int64_t cores = 1) {
  Mapping mapping;
  mapping.matmul.block = {op.matmul.m, op.matmul.n, op.matmul.k};
  mapping.matmul.tile = tile;
  mapping.tensor_cores = {0, cores};
  mapping.vector_cores = {0, 1};
  return mapping;
}

}  // namespace tandem::test
