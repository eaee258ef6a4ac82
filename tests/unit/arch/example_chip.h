// SPDX-License-Identifier: Apache-2.0
// A small, complete chip file for tests to change.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace tandem {

inline const std::string kExampleChip = R"(name: example
clock: 1 GHz
technology: n7
tensor_cores:
  count: 4
  rows: 64
  cols: 64
  dataflow: ws
  local_buffer: 1 MiB
  macs_per_pe:
    bf16: 1
    int8: 2
vector_cores:
  count: 4
  lanes: 128
  local_buffer: 256 KiB
  throughput: {exponential: 0.5}
global_buffer:
  capacity: 32 MiB
  bandwidth: 2 TB/s
noc:
  port_bandwidth: 256 GB/s
  multicast: false
dma:
  max_outstanding: 64 KiB
hbm:
  generation: HBM2
  stacks: 2
  channels_per_stack: 16
  capacity: 32 GiB
  bandwidth: 512 GB/s
  atom: 32 B
  timing:
    trcd: 14 ns
    trp: 14 ns
    tras: 34 ns
    tcl: 14 ns
    tccd_s: 2 ns
    tccd_l: 4 ns
    trrd: 4 ns
    tfaw: 16 ns
    twtr: 8 ns
    trtw: 13 ns
    trefi: 3900 ns
    trfc: 260 ns
    page: 1 KiB
launch:
  device_tensor: 4 us
  host:
    matmul: 21 us
)";

/// `text` with its one occurrence of `part` replaced.
inline std::string with(std::string text, const std::string& part, const std::string& replacement) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  if (at != std::string::npos) text.replace(at, part.size(), replacement);
  return text;
}

}  // namespace tandem
