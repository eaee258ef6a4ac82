// SPDX-License-Identifier: Apache-2.0
// Rows of a reference file, each predicted and simulated.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arch/chip.h"
#include "arch/cluster.h"
#include "arch/support/error.h"
#include "sim/simulate.h"
#include "tools/arguments.h"
#include "tools/csv.h"
#include "tools/session.h"
#include "workloads/answer.h"

namespace tandem {

/// A row that cannot be run. `reason` is one of few, so that failures can be counted.
class RowFailure : public std::runtime_error {
 public:
  RowFailure(std::string reason, const std::string& detail)
      : std::runtime_error(detail.empty() ? reason : reason + ": " + detail), reason_(std::move(reason)) {}
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// One quantity of a row in three answers.
struct RowMetric {
  std::string name;  ///< "latency_s", "tokens_per_second"
  /// simulated: NaN if it was not asked for, or (but for the main one) if the simulation has no such count
  double predicted = 0, simulated = 0, reference = 0;
};

/// What a row came to: the machine it was run on, and its quantities, the kind's main one first.
struct RowAnswer {
  std::string machine;
  std::vector<RowMetric> metrics{};
  std::vector<std::string> assumed{};  ///< where the row does not say: "112 heads"
  /// Of the main quantity, where it is a time with parts.
  std::optional<TimeByCause> predicted_by_cause{}, simulated_by_cause{};
  std::vector<std::string> causes{};  ///< why the answer differs from the reference, where that is known
};

/// Machines that replace those the rows name.
struct MachineOverride {
  std::optional<Chip> chip;
  std::optional<Cluster> cluster;
  std::vector<std::string> without{};  ///< effects to switch off, of training rows (effects.h)
};

/// One kind of reference file.
struct ReferenceKind {
  std::string_view name;                   ///< "operators"
  std::vector<std::string_view> columns;   ///< a header with all of these is of this kind
  std::vector<std::string_view> group_by;  ///< columns whose values make the groups of the table
  /// Builds the case a row describes and answers it both ways; without options by prediction alone.
  RowAnswer (*evaluate)(const CsvRow& row, const MachineOverride& machine, const SimulationOptions* options) = nullptr;
};

ReferenceKind operators_kind();
ReferenceKind collectives_kind();
ReferenceKind hbm_kind();
ReferenceKind scalesim_kind();
ReferenceKind training_kind();

/// ConfigError that lists the kinds and their columns if none fits.
ReferenceKind kind_of(const CsvTable& table);

/// Rows for which every COLUMN=VALUE holds. ConfigError for a filter without '=', an unknown column, or no row left.
std::vector<std::size_t> select_rows(const CsvTable& table, std::span<const std::string> filters);

enum class Answers { predicted, both };

/// What became of one row.
struct RowOutcome {
  std::size_t row = 0;
  RowAnswer answer;  ///< without metrics: it failed
  std::string failure, reason;
};

std::vector<RowOutcome> run_rows(const CsvTable& table, const ReferenceKind& kind, std::span<const std::size_t> rows,
                                 const MachineOverride& machine, Answers answers, std::int64_t limit_seconds,
                                 const Session& session);

/// The whole of `tandem validate --against`.
ExitCode validate_against(const Arguments& arguments, const Session& session);

}  // namespace tandem
