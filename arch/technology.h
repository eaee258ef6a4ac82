// SPDX-License-Identifier: Apache-2.0
// Area and energy figures of one process and library, as data.
#pragma once

#include <map>
#include <string>

#include "arch/data_type.h"
#include "arch/support/quantity.h"

namespace tandem {

struct Technology {
  std::string name;
  Length node{};
  Area mac;   ///< one processing element of a tensor core
  Area lane;  ///< one lane of a vector core
  /// Area of SRAM macros by capacity; between entries interpolated, beyond them scaled by capacity.
  std::map<Bytes, Area> local_sram;   ///< core-local buffers
  std::map<Bytes, Area> global_sram;  ///< global buffer
  Area noc_per_core{};                ///< crossbar port
  Area hbm_per_channel{};             ///< PHY and controller
  Area link{};                        ///< PHY and controller of one chip-to-chip link
  Area fixed{};                       ///< everything else

  std::map<DataType, Energy> mac_energy;  ///< one MAC
  Energy lane_energy;                     ///< one vector operation
  Energy local_byte;                      ///< one byte of a core-local buffer, read or written
  Energy global_byte;                     ///< one byte of the global buffer
  Energy noc_byte;
  Energy hbm_byte;
  Energy link_byte;
  double leakage_w_per_mm2 = 0;  ///< static power
};

}  // namespace tandem
