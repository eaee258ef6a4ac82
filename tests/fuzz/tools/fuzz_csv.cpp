// SPDX-License-Identifier: Apache-2.0
// Any bytes are read as a CSV table or refused with ConfigError; every other exception is a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arch/support/error.h"
#include "tools/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const tandem::CsvTable table = tandem::parse_csv({reinterpret_cast<const char*>(data), size}, "input.csv");
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      for (const auto& column : table.header) (void)tandem::CsvRow(table, row).has(column);
    }
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
