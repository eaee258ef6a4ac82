// SPDX-License-Identifier: Apache-2.0
// From a trace to files that other tools open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "tools/trace_file.h"

namespace tandem {

/// Which events to write.
struct EventFilter {
  std::int64_t from_ps = std::numeric_limits<std::int64_t>::min();  ///< events that end before are left out
  std::int64_t to_ps = std::numeric_limits<std::int64_t>::max();    ///< events that start after are left out
  std::int64_t min_duration_ps = 0;
  std::string unit;  ///< part of the unit's name; empty: all

  [[nodiscard]] bool passes(const TraceSpan& span, const std::string& unit_name) const;
};

struct ExportResult {
  std::int64_t written = 0;   ///< events
  std::int64_t filtered = 0;  ///< left out by the filter
  std::int64_t capped = 0;    ///< left out because the file was at its limit
  std::int64_t bytes = 0;     ///< of text, before compression
};

/// Trace Event JSON (ui.perfetto.dev, chrome://tracing): ts and dur in microseconds with six decimals, pid a device,
/// tid a unit, names in metadata events, counters as "C" events. Writing events stops at `limit_bytes` of text; the
/// file is well-formed then too. Source: Trace Event Format (Google, 2016).
ExportResult export_perfetto(const TraceFile& trace, const EventFilter& filter, std::int64_t limit_bytes,
                             const std::filesystem::path& out);

/// One CSV file for each table of the trace in the folder `out`, or one table into the file `out`.
/// Event tables are filtered; unit and operator ids get their names beside them.
ExportResult export_csv(const TraceFile& trace, const EventFilter& filter, const std::filesystem::path& folder);
ExportResult export_csv_table(const TraceFile& trace, const EventFilter& filter, const std::string& table,
                              const std::filesystem::path& file);

}  // namespace tandem
