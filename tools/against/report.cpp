// SPDX-License-Identifier: Apache-2.0
#include "tools/against/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/statistics.h"
#include "tools/text_table.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

struct MetricErrors {
  std::string name;
  std::size_t rows = 0;
  ErrorSummary predicted, simulated;
};

/// Names of all metrics, the main one first.
std::vector<std::string> metric_names(const std::vector<RowOutcome>& outcomes) {
  std::vector<std::string> names;
  for (const RowOutcome& outcome : outcomes) {
    for (const RowMetric& metric : outcome.answer.metrics) {
      if (std::find(names.begin(), names.end(), metric.name) == names.end()) names.push_back(metric.name);
    }
  }
  return names;
}

MetricErrors errors_of(const std::vector<const RowOutcome*>& outcomes, const std::string& name) {
  std::vector<double> predicted, simulated, reference, reference_of_simulated;
  for (const RowOutcome* outcome : outcomes) {
    for (const RowMetric& metric : outcome->answer.metrics) {
      if (metric.name != name) continue;
      predicted.push_back(metric.predicted);
      reference.push_back(metric.reference);
      if (std::isnan(metric.simulated)) continue;
      simulated.push_back(metric.simulated);
      reference_of_simulated.push_back(metric.reference);
    }
  }
  return {name, reference.size(), summarise_errors(predicted, reference),
          summarise_errors(simulated, reference_of_simulated)};
}

std::vector<const RowOutcome*> pointers(const std::vector<RowOutcome>& outcomes) {
  std::vector<const RowOutcome*> result;
  for (const RowOutcome& outcome : outcomes) result.push_back(&outcome);
  return result;
}

std::map<std::string, std::size_t> failures_by_reason(const std::vector<RowOutcome>& outcomes) {
  std::map<std::string, std::size_t> counts;
  for (const RowOutcome& outcome : outcomes) {
    if (outcome.answer.metrics.empty()) ++counts[outcome.reason];
  }
  return counts;
}

Json to_json(const ErrorSummary& errors) {
  return {{"mean_abs_error", errors.mean_abs_error},
          {"median_abs_error", errors.median_abs_error},
          {"max_abs_error", errors.max_abs_error},
          {"kendall_tau", errors.kendall_tau}};
}

/// A number of the CSV file; empty if there is none.
std::string cell(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : std::string(); }

std::string tau_text(double tau) { return std::isfinite(tau) ? fmt::format("{:.3f}", tau) : std::string("n/a"); }

std::vector<std::string> table_row(const std::string& label, const MetricErrors& errors, std::size_t failed) {
  return {label,
          std::to_string(errors.rows),
          std::to_string(failed),
          percent(errors.predicted.mean_abs_error),
          percent(errors.predicted.median_abs_error),
          percent(errors.predicted.max_abs_error),
          signed_percent(errors.predicted.bias),
          tau_text(errors.predicted.kendall_tau),
          percent(errors.simulated.mean_abs_error),
          percent(errors.simulated.median_abs_error),
          percent(errors.simulated.max_abs_error),
          signed_percent(errors.simulated.bias),
          tau_text(errors.simulated.kendall_tau)};
}

std::string group_of(const CsvTable& table, const ReferenceKind& kind, std::size_t row) {
  std::vector<std::string> parts;
  for (const std::string_view column : kind.group_by) parts.push_back(CsvRow(table, row).text(column));
  return fmt::format("{}", fmt::join(parts, ", "));
}

TextTable error_table(const std::string& first) {
  return TextTable({first, "rows", "failed", "predicted", "median", "max", "bias", "tau", "simulated", "median", "max",
                    "bias", "tau"});
}

/// The simulated answer where there is one.
bool has_simulation(const RowOutcome& row) { return !std::isnan(row.answer.metrics.front().simulated); }

double error_of(const RowOutcome& row) {
  const RowMetric& main = row.answer.metrics.front();
  return relative_error(has_simulation(row) ? main.simulated : main.predicted, main.reference);
}

/// The largest parts of a time, as shares of it.
std::string largest_causes(const TimeByCause& by_cause) {
  std::vector<std::pair<Picoseconds, std::string_view>> parts;
  for (const auto& [cause, name] : EnumNames<Cause>::values) parts.emplace_back(by_cause[cause], name);
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < kShown && parts[i].first > Picoseconds(0); ++i) {
    shown.push_back(fmt::format("{} {:.0f} %", parts[i].second,
                                100 * to_seconds(parts[i].first).count() / to_seconds(by_cause.total()).count()));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::string worst_rows(const CsvTable& table, const ReferenceKind& kind, const std::vector<RowOutcome>& outcomes) {
  std::vector<const RowOutcome*> rows;
  for (const RowOutcome& outcome : outcomes) {
    if (!outcome.answer.metrics.empty()) rows.push_back(&outcome);
  }
  std::stable_sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return error_of(*a) > error_of(*b); });
  constexpr std::size_t kShown = 8;
  rows.resize(std::min(rows.size(), kShown));
  if (rows.empty()) return {};
  TextTable text({"worst rows", "line", "reference", "predicted", "simulated", "where the time goes"});
  for (const RowOutcome* row : rows) {
    const RowMetric& main = row->answer.metrics.front();
    const auto& causes =
        row->answer.simulated_by_cause ? row->answer.simulated_by_cause : row->answer.predicted_by_cause;
    text.add({group_of(table, kind, row->row), std::to_string(table.rows[row->row].front().line),
              fmt::format("{:.4g}", main.reference), signed_percent(main.predicted / main.reference - 1),
              has_simulation(*row) ? signed_percent(main.simulated / main.reference - 1) : std::string("n/a"),
              causes ? largest_causes(*causes) : std::string("not told apart")});
  }
  return text.text();
}

}  // namespace

Json against_json(const std::vector<RowOutcome>& outcomes) {
  const auto all = pointers(outcomes);
  const auto names = metric_names(outcomes);
  std::size_t failed = 0;
  for (const RowOutcome& outcome : outcomes) failed += outcome.answer.metrics.empty() ? 1 : 0;
  const MetricErrors main = errors_of(all, names.empty() ? "" : names.front());
  Json json{{"rows", outcomes.size()},
            {"failed", failed},
            {"predicted", to_json(main.predicted)},
            {"simulated", to_json(main.simulated)},
            {"metrics", Json::object()}};
  for (std::size_t i = 1; i < names.size(); ++i) {
    const MetricErrors errors = errors_of(all, names[i]);
    json["metrics"][names[i]] = {{"predicted", to_json(errors.predicted)}, {"simulated", to_json(errors.simulated)}};
  }
  return json;
}

std::string against_text(const CsvTable& table, const ReferenceKind& kind, const std::vector<RowOutcome>& outcomes) {
  const auto names = metric_names(outcomes);
  const auto failures = failures_by_reason(outcomes);
  std::size_t failed = 0;
  for (const auto& [reason, count] : failures) failed += count;
  std::string text = fmt::format(
      "{} of {} rows ran; errors are |x - reference| / reference: mean, median, largest; bias: mean of (x - "
      "reference) / reference; tau: "
      "rank correlation\n\n",
      outcomes.size() - failed, outcomes.size());
  TextTable totals = error_table(std::string(kind.name));
  for (const std::string& name : names) totals.add(table_row(name, errors_of(pointers(outcomes), name), failed));
  text += totals.text();

  std::map<std::string, std::vector<const RowOutcome*>> groups;
  for (const RowOutcome& outcome : outcomes) groups[group_of(table, kind, outcome.row)].push_back(&outcome);
  if (groups.size() > 1 && !names.empty()) {
    TextTable by_group = error_table(fmt::format("{} by {}", names.front(), fmt::join(kind.group_by, ", ")));
    for (const auto& [group, members] : groups) {
      const auto lost =
          std::count_if(members.begin(), members.end(), [](auto* row) { return row->answer.metrics.empty(); });
      by_group.add(table_row(group, errors_of(members, names.front()), static_cast<std::size_t>(lost)));
    }
    text += "\n" + by_group.text();
  }
  const std::string worst = worst_rows(table, kind, outcomes);
  if (!worst.empty()) text += "\n" + worst;
  return text;
}

std::string failures_text(const CsvTable& table, const std::vector<RowOutcome>& outcomes) {
  std::string text;
  for (const auto& [reason, count] : failures_by_reason(outcomes)) {
    const auto example = std::find_if(outcomes.begin(), outcomes.end(), [&, &why = reason](const RowOutcome& row) {
      return row.answer.metrics.empty() && row.reason == why;
    });
    text += fmt::format("  {:5}  {}\n         first: line {}: {}\n", count, reason,
                        table.rows[example->row].front().line, example->failure);
  }
  return text.empty() ? text : "rows that could not be run, by reason\n" + text;
}

namespace {

/// Seconds by cause of both answers, as columns; none for kinds whose times have no parts.
class CauseColumns {
 public:
  explicit CauseColumns(const std::vector<RowOutcome>& outcomes)
      : wanted_(std::any_of(outcomes.begin(), outcomes.end(),
                            [](const RowOutcome& row) { return row.answer.predicted_by_cause.has_value(); })) {}

  [[nodiscard]] std::string header() const {
    if (!wanted_) return {};
    std::string text;
    for (const char* answer : {"predicted", "simulated"}) {
      for (const auto& [cause, name] : EnumNames<Cause>::values) text += fmt::format("{}_{}_s,", answer, name);
    }
    return text;
  }
  [[nodiscard]] std::string cells(const RowAnswer& answer) const {
    if (!wanted_) return {};
    std::string text;
    for (const auto& by_cause : {answer.predicted_by_cause, answer.simulated_by_cause}) {
      for (const auto& [cause, name] : EnumNames<Cause>::values) {
        text += (by_cause ? cell(to_seconds((*by_cause)[cause]).count()) : std::string()) + ",";
      }
    }
    return text;
  }

 private:
  bool wanted_;
};

}  // namespace

std::string against_csv(const CsvTable& table, const std::vector<RowOutcome>& outcomes) {
  const auto names = metric_names(outcomes);
  std::string text;
  for (const std::string& column : table.header) text += csv_quoted(column) + ",";
  for (const std::string& name : names) {
    text += fmt::format("{0}_predicted,{0}_simulated,{0}_reference,{0}_error_predicted,{0}_error_simulated,", name);
  }
  const CauseColumns causes(outcomes);
  text += causes.header() + "machine,assumed,causes,failure\n";
  for (const RowOutcome& outcome : outcomes) {
    for (const CsvField& field : table.rows[outcome.row]) text += csv_quoted(field.text) + ",";
    for (const std::string& name : names) {
      const auto metric = std::find_if(outcome.answer.metrics.begin(), outcome.answer.metrics.end(),
                                       [&](const RowMetric& candidate) { return candidate.name == name; });
      if (metric == outcome.answer.metrics.end()) {
        text += ",,,,,";
        continue;
      }
      text += fmt::format("{},{},{},{},{},", cell(metric->predicted), cell(metric->simulated), cell(metric->reference),
                          cell(relative_error(metric->predicted, metric->reference)),
                          cell(relative_error(metric->simulated, metric->reference)));
    }
    text += causes.cells(outcome.answer) + csv_quoted(outcome.answer.machine) + "," +
            csv_quoted(fmt::format("{}", fmt::join(outcome.answer.assumed, "; "))) + "," +
            csv_quoted(fmt::format("{}", fmt::join(outcome.answer.causes, "; "))) + "," + csv_quoted(outcome.failure) +
            "\n";
  }
  return text;
}

}  // namespace tandem
