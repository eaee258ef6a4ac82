// SPDX-License-Identifier: Apache-2.0
#include "tools/against/against.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "arch/config.h"
#include "arch/support/config_tree.h"
#include "sim/simulate.h"
#include "sim/slice_memo.h"
#include "tools/against/effects.h"
#include "tools/against/report.h"
#include "tools/against/scatter.h"
#include "tools/answer_json.h"
#include "tools/files.h"
#include "tools/forked_tasks.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/scenario.h"

namespace tandem {
namespace {

using Json = nlohmann::json;

std::vector<ReferenceKind> all_kinds() {
  return {operators_kind(), collectives_kind(), training_kind(), hbm_kind(), scalesim_kind()};
}

void require_plausible(const std::vector<RowMetric>& metrics, Answers answers) {
  if (metrics.empty()) throw RowFailure("the row states no reference value", "");
  for (const RowMetric& metric : metrics) {
    if (!(metric.reference > 0) || !std::isfinite(metric.reference)) {
      throw RowFailure("the reference value is not positive", metric.name);
    }
    const bool is_absent =
        std::isnan(metric.simulated) && (answers == Answers::predicted || &metric != &metrics.front());
    const bool simulated = is_absent || (metric.simulated > 0 && std::isfinite(metric.simulated));
    if (!(metric.predicted > 0) || !std::isfinite(metric.predicted) || !simulated) {
      throw RowFailure("no positive answer",
                       fmt::format("{}: predicted {}, simulated {}", metric.name, metric.predicted, metric.simulated));
    }
  }
}

/// Evaluates a row; every failure has one of a few reasons.
RowAnswer evaluate(const ReferenceKind& kind, const CsvRow& row, const MachineOverride& machine,
                   const SimulationOptions* options) {
  try {
    RowAnswer answer = kind.evaluate(row, machine, options);
    require_plausible(answer.metrics, options == nullptr ? Answers::predicted : Answers::both);
    return answer;
  } catch (const RowFailure&) {
    throw;
  } catch (const ConfigError& error) {
    throw RowFailure("the row does not describe a sound case", error.what());
  } catch (const InfeasibleError& error) {
    throw RowFailure("infeasible", error.what());
  } catch (const DeadlockError& error) {
    throw RowFailure("deadlock", error.what());
  } catch (const std::overflow_error& error) {
    throw RowFailure("too large", error.what());
  } catch (const std::exception& error) {
    throw RowFailure("internal error", error.what());
  }
}

/// Picoseconds by cause, or null.
Json to_json(const std::optional<TimeByCause>& by_cause) {
  if (!by_cause) return {};
  Json parts = Json::array();
  for (const Picoseconds part : by_cause->part) parts.push_back(part.count());
  return parts;
}

std::optional<TimeByCause> by_cause_from(const Json& parts) {
  if (parts.is_null()) return std::nullopt;
  TimeByCause by_cause;
  for (std::size_t i = 0; i < kCauses; ++i) by_cause.part[i] = Picoseconds(parts[i].get<std::int64_t>());
  return by_cause;
}

std::string run_row(const ReferenceKind& kind, const CsvRow& row, const MachineOverride& machine,
                    const SimulationOptions* options) {
  Json reply;
  try {
    const RowAnswer answer = evaluate(kind, row, machine, options);
    reply = {{"machine", answer.machine}, {"metrics", Json::array()}, {"assumed", answer.assumed}};
    reply["causes"] = answer.causes;
    reply["predicted"] = to_json(answer.predicted_by_cause);
    reply["simulated"] = to_json(answer.simulated_by_cause);
    for (const RowMetric& metric : answer.metrics) {
      // JSON has no NaN: what was not simulated travels as null.
      reply["metrics"].push_back({metric.name, metric.predicted,
                                  std::isnan(metric.simulated) ? Json() : Json(metric.simulated), metric.reference});
    }
  } catch (const RowFailure& failure) {
    reply = {{"failure", failure.what()}, {"reason", failure.reason()}};
  }
  return reply.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RowOutcome read_reply(std::size_t row, const TaskOutcome& outcome) {
  RowOutcome result;
  result.row = row;
  if (!outcome.ok) {
    result.failure = result.reason = outcome.text;
    return result;
  }
  const Json reply = Json::parse(outcome.text);
  if (reply.contains("failure")) {
    result.failure = reply["failure"].get<std::string>();
    std::replace(result.failure.begin(), result.failure.end(), '\n', ' ');
    result.reason = reply["reason"].get<std::string>();
    return result;
  }
  result.answer.machine = reply["machine"].get<std::string>();
  for (const Json& metric : reply["metrics"]) {
    result.answer.metrics.push_back(
        {metric[0].get<std::string>(), metric[1].get<double>(),
         metric[2].is_null() ? std::numeric_limits<double>::quiet_NaN() : metric[2].get<double>(),
         metric[3].get<double>()});
  }
  result.answer.predicted_by_cause = by_cause_from(reply["predicted"]);
  result.answer.simulated_by_cause = by_cause_from(reply["simulated"]);
  result.answer.assumed = reply["assumed"].get<std::vector<std::string>>();
  result.answer.causes = reply["causes"].get<std::vector<std::string>>();
  return result;
}

MachineOverride override_from(const Arguments& arguments, const Session& session) {
  MachineOverride machine;
  if (arguments.has("cluster")) {
    machine.cluster = machine_from(arguments, session);
    machine.chip = machine.cluster->chip;
  } else if (arguments.has("chip")) {
    machine.chip = machine_from(arguments, session).chip;
  } else if (arguments.has("set") || arguments.has("devices")) {
    throw ConfigError("--set and --devices need --chip or --cluster beside --against");
  }
  machine.without = arguments.texts("without");
  require_effects(machine.without);
  return machine;
}

void refuse_scenario_flags(const Arguments& arguments) {
  const std::vector<FlagGroup> groups{workload_flags(), plan_flags()};
  for (const FlagGroup& group : groups) {
    for (const Flag& flag : group.flags) {
      if (arguments.has(flag.name))
        throw ConfigError(fmt::format("--{} has no effect with --against: the rows say it", flag.name));
    }
  }
  for (const char* flag : {"trace", "detail", "ideal", "seed", "no-ablation"}) {
    if (arguments.has(flag)) throw ConfigError(fmt::format("--{} has no effect with --against", flag));
  }
}

}  // namespace

ReferenceKind kind_of(const CsvTable& table) {
  std::string expected;
  for (const ReferenceKind& kind : all_kinds()) {
    const bool fits = std::all_of(kind.columns.begin(), kind.columns.end(),
                                  [&](std::string_view column) { return table.column(column).has_value(); });
    if (fits) return kind;
    expected += fmt::format("{}{} ({})", expected.empty() ? "" : ", or ", kind.name, fmt::join(kind.columns, ", "));
  }
  throw ConfigError({Diagnostic{table.file, 1, 1, "", "the columns are of no known kind of reference file",
                                "those of " + expected, ""}});
}

std::vector<std::size_t> select_rows(const CsvTable& table, std::span<const std::string> filters) {
  std::vector<std::pair<std::size_t, std::string>> wanted;
  for (const std::string& filter : filters) {
    const std::size_t equals = filter.find('=');
    if (equals == std::string::npos) throw ConfigError(fmt::format("--where {}: expected COLUMN=VALUE", filter));
    const std::string name = filter.substr(0, equals);
    const auto column = table.column(name);
    if (!column) {
      throw ConfigError({Diagnostic{table.file, 1, 0, "--where " + filter, fmt::format("there is no column '{}'", name),
                                    "", nearest_name(name, table.header)}});
    }
    wanted.emplace_back(*column, filter.substr(equals + 1));
  }
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto holds = [&](const auto& filter) { return table.rows[row][filter.first].text == filter.second; };
    if (std::all_of(wanted.begin(), wanted.end(), holds)) rows.push_back(row);
  }
  if (!rows.empty()) return rows;
  if (wanted.empty())
    throw ConfigError({Diagnostic{table.file, 1, 0, "", "the file has a header but no rows", "", ""}});
  std::set<std::string> values;
  for (const auto& row : table.rows) values.insert(row[wanted.front().first].text);
  const std::string near = nearest_name(wanted.front().second, std::vector<std::string>(values.begin(), values.end()));
  throw ConfigError({Diagnostic{table.file, 0, 0, "--where", "no row has these values", "", near}});
}

std::vector<RowOutcome> run_rows(const CsvTable& table, const ReferenceKind& kind, std::span<const std::size_t> rows,
                                 const MachineOverride& machine, Answers answers, std::int64_t limit_seconds,
                                 const Session& session) {
  Progress progress(session, "rows");
  ForkedOptions options;
  options.jobs = session.jobs;
  options.limit = std::chrono::seconds(limit_seconds);
  options.cancelled = interrupted;
  options.done = [&](std::size_t finished) {
    progress.show(static_cast<double>(finished) / static_cast<double>(rows.size()),
                  fmt::format("{} of {}", finished, rows.size()));
  };
  // Each worker has a copy of its own, which outlives the row: rows of one model run the same slices.
  SliceMemo memo;
  SimulationOptions simulation;
  simulation.detail = Detail::summary;
  simulation.memo = &memo;
  const auto task = [&](std::size_t index) {
    return run_row(kind, CsvRow(table, rows[index]), machine, answers == Answers::both ? &simulation : nullptr);
  };
  const std::vector<TaskOutcome> outcomes = run_forked(rows.size(), task, options);
  std::vector<RowOutcome> result;
  for (std::size_t i = 0; i < rows.size(); ++i) result.push_back(read_reply(rows[i], outcomes[i]));
  return result;
}

ExitCode validate_against(const Arguments& arguments, const Session& session) {
  refuse_scenario_flags(arguments);
  const auto csv = arguments.text("csv");
  if (csv) require_writable(*csv);
  const auto plot = arguments.text("plot");
  if (plot) require_writable(*plot);
  const CsvTable table = load_csv(*arguments.text("against"));
  const ReferenceKind kind = kind_of(table);
  if (arguments.has("without") && kind.name != "training") throw ConfigError("--without is for training rows");
  const std::vector<std::size_t> rows = select_rows(table, arguments.texts("where"));
  const MachineOverride machine = override_from(arguments, session);
  const Answers answers = arguments.has("predict-only") ? Answers::predicted : Answers::both;
  const auto limit = arguments.positive("time-limit").value_or(600);
  const std::vector<RowOutcome> outcomes = run_rows(table, kind, rows, machine, answers, limit, session);
  if (csv) write_file(*csv, against_csv(table, outcomes));
  if (plot) write_file(*plot, scatter_plot(table, outcomes).element());
  print(session.json ? text_of(against_json(outcomes)) : against_text(table, kind, outcomes));
  fmt::print(stderr, "{}", failures_text(table, outcomes));
  if (interrupted()) throw CancelledError(csv ? "the rows that ran are in the CSV file" : "not all rows ran");
  const bool all_ran =
      std::none_of(outcomes.begin(), outcomes.end(), [](const RowOutcome& row) { return row.answer.metrics.empty(); });
  return all_ran ? ExitCode::done : ExitCode::cannot;
}

}  // namespace tandem
