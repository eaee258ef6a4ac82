// SPDX-License-Identifier: Apache-2.0
// A trace as the exporters read it: names in memory, events a block at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "arch/support/hdf5.h"

namespace tandem {

struct TraceUnit {
  std::int64_t id = 0;
  std::string name, kind;
  std::int64_t parent = -1;
};

struct TraceSpan {
  std::int64_t start_ps = 0, end_ps = 0;
  std::int64_t unit = -1, operation = -1, kind = -1, microbatch = -1, bytes = 0;
};

/// Whole, live and killed files alike. Opening anything else is a ConfigError.
class TraceFile {
 public:
  explicit TraceFile(const std::filesystem::path& path);

  [[nodiscard]] const hdf5::File& file() const { return file_; }
  [[nodiscard]] bool complete() const;
  [[nodiscard]] const std::vector<TraceUnit>& units() const { return units_; }
  [[nodiscard]] const std::vector<std::string>& operators() const { return operators_; }  ///< "slice/name" by id
  [[nodiscard]] std::string kind_name(std::int64_t kind) const;
  [[nodiscard]] std::vector<std::string> event_tables() const;  ///< paths, "/events" first
  /// Of "/slices/3/events": the slice's name.
  [[nodiscard]] std::string slice_name(const std::string& table) const;
  [[nodiscard]] std::int64_t spans(const std::string& table) const;
  /// Calls `visit` for every committed row of an event table, in file order.
  void for_each(const std::string& table, const std::function<void(const TraceSpan&)>& visit) const;
  /// Names of the counters under /counters.
  [[nodiscard]] std::vector<std::string> counters() const;
  [[nodiscard]] std::string attribute(const std::string& name) const;  ///< of the root, as text; empty if absent

 private:
  hdf5::File file_;
  std::vector<TraceUnit> units_;
  std::vector<std::string> operators_;
};

}  // namespace tandem
