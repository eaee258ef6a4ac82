// SPDX-License-Identifier: Apache-2.0
// Any bytes are a trace that can be read to its end, or are refused with ConfigError.
#include "arch/support/error.h"
#include "tests/fuzz/input_file.h"
#include "tools/trace_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tandem::test::InputFile file(data, size);
  try {
    const tandem::TraceFile trace(file.path());
    for (const std::string& table : trace.event_tables()) (void)trace.spans(table);
  } catch (const tandem::ConfigError&) {
  }
  return 0;
}
