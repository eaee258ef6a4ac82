// SPDX-License-Identifier: Apache-2.0
#include "tools/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "arch/support/units.h"
#include "tools/csv.h"
#include "tools/text_table.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

double seconds(Picoseconds time) { return to_seconds(time).count(); }

/// Where each operator of an answer stands: by slice, name and pass, then by order.
using OperatorKey = std::tuple<std::string, std::string, Pass>;
std::map<OperatorKey, std::vector<const OperatorAnswer*>> by_key(const Answer& answer) {
  std::map<OperatorKey, std::vector<const OperatorAnswer*>> result;
  for (const OperatorAnswer& op : answer.operators) result[{op.slice, op.name, op.pass}].push_back(&op);
  return result;
}

std::vector<MissedCause> compare_causes(const TimeByCause& predicted, const TimeByCause& simulated) {
  std::vector<MissedCause> rows;
  for (std::size_t i = 0; i < kCauses; ++i) {
    if (predicted.part[i].count() == 0 && simulated.part[i].count() == 0) continue;
    rows.push_back({static_cast<Cause>(i), predicted.part[i], simulated.part[i]});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const MissedCause& a, const MissedCause& b) {
    return std::chrono::abs(a.missed()) > std::chrono::abs(b.missed());
  });
  return rows;
}

std::vector<ComparedTime> compare_operators(const Answer& predicted, const Answer& simulated) {
  auto others = by_key(simulated);
  std::map<OperatorKey, std::size_t> seen;
  std::vector<ComparedTime> rows;
  for (const OperatorAnswer& op : predicted.operators) {
    const OperatorKey key{op.slice, op.name, op.pass};
    const std::vector<const OperatorAnswer*>& same = others[key];
    const std::size_t index = seen[key]++;
    if (index >= same.size()) throw std::logic_error("operator '" + op.name + "' was predicted but not simulated");
    rows.push_back({"operator", op.slice + "/" + op.name + "." + std::string(name_of(op.pass)), op.time,
                    same[index]->time, compare_causes(op.by_cause, same[index]->by_cause)});
  }
  if (rows.size() != simulated.operators.size()) throw std::logic_error("an operator was simulated but not predicted");
  return rows;
}

void require_equal_count(std::size_t predicted, std::size_t simulated, const char* what) {
  if (predicted != simulated)
    throw std::logic_error(fmt::format("{} {} predicted, {} simulated", predicted, what, simulated));
}

std::vector<ComparedTime> compare_layers(const Answer& predicted, const Answer& simulated) {
  require_equal_count(predicted.layers.size(), simulated.layers.size(), "layers");
  std::vector<ComparedTime> rows;
  for (std::size_t i = 0; i < predicted.layers.size(); ++i) {
    const LayerAnswer& a = predicted.layers[i];
    const LayerAnswer& b = simulated.layers[i];
    rows.push_back({"layer", a.name + ".forward", a.forward, b.forward});
    rows.push_back({"layer", a.name + ".backward", a.backward, b.backward});
  }
  return rows;
}

std::vector<ComparedTime> compare_stages(const Answer& predicted, const Answer& simulated) {
  require_equal_count(predicted.stages.size(), simulated.stages.size(), "stages");
  std::vector<ComparedTime> rows;
  for (std::size_t i = 0; i < predicted.stages.size(); ++i) {
    const StageAnswer& a = predicted.stages[i];
    const StageAnswer& b = simulated.stages[i];
    rows.push_back({"stage", fmt::format("{}.forward", i), a.forward, b.forward});
    rows.push_back({"stage", fmt::format("{}.backward", i), a.backward, b.backward});
    rows.push_back({"stage", fmt::format("{}.busy", i), a.busy, b.busy});
  }
  return rows;
}

std::string signed_time(Picoseconds time) {
  return time.count() < 0 ? "-" + to_text(Picoseconds(-time.count())) : "+" + to_text(time);
}

std::string times_table(const std::vector<ComparedTime>& rows, std::size_t most) {
  TextTable table({rows.empty() ? "" : rows.front().level, "predicted", "simulated", "error"});
  std::vector<const ComparedTime*> order;
  for (const ComparedTime& row : rows) order.push_back(&row);
  if (rows.size() > most) {
    std::stable_sort(order.begin(), order.end(), [](const ComparedTime* a, const ComparedTime* b) {
      return std::chrono::abs(a->predicted - a->simulated) > std::chrono::abs(b->predicted - b->simulated);
    });
    order.resize(most);
  }
  for (const ComparedTime* row : order) {
    table.add({row->name, to_text(row->predicted), to_text(row->simulated), signed_percent(row->error())});
  }
  std::string text = table.text();
  if (rows.size() > most)
    text += fmt::format("  ... the {} largest differences of {}; all with --json or --csv\n", most, rows.size());
  return text;
}

/// Where the operators' simulated time goes, and what the prediction missed of it; where it missed most first.
std::string operator_causes_table(const std::vector<ComparedTime>& operators, std::size_t most) {
  const auto missed = [](const ComparedTime& row) {
    Picoseconds sum{};
    for (const MissedCause& cause : row.causes) sum += std::chrono::abs(cause.missed());
    return sum;
  };
  std::vector<const ComparedTime*> order;
  for (const ComparedTime& row : operators) order.push_back(&row);
  std::stable_sort(order.begin(), order.end(),
                   [&](const ComparedTime* a, const ComparedTime* b) { return missed(*a) > missed(*b); });
  order.resize(std::min(order.size(), most));
  TextTable table({"operator", "simulated time by cause", "missed most"});
  for (const ComparedTime* row : order) {
    std::vector<MissedCause> parts = row->causes;
    std::stable_sort(parts.begin(), parts.end(),
                     [](const MissedCause& a, const MissedCause& b) { return a.simulated > b.simulated; });
    std::string text;
    for (const MissedCause& part : parts) {
      if (part.simulated.count() == 0) continue;
      if (!text.empty()) text += ", ";
      text += fmt::format("{} {}", name_of(part.cause), percent(seconds(part.simulated) / seconds(row->simulated)));
    }
    std::string most_missed = "-";
    if (!row->causes.empty()) {
      const MissedCause& first = row->causes.front();
      most_missed = fmt::format("{} {}", name_of(first.cause), signed_time(first.missed()));
    }
    table.add({row->name, text, most_missed});
  }
  return table.text();
}

std::string ablation_table(const Comparison& comparison) {
  const Picoseconds whole = comparison.iteration.front().simulated;
  TextTable table({"without", "iteration", "saves", "of it"});
  for (const Ablation& row : comparison.ablations) {
    if (!row.time) {
      table.add({row.effect, "-", "-", row.reason});
      continue;
    }
    const Picoseconds saved = whole - *row.time;
    table.add({row.effect, to_text(*row.time), signed_time(saved), percent(seconds(saved) / seconds(whole))});
  }
  return table.text();
}

}  // namespace

double ComparedTime::error() const {
  if (simulated.count() == 0) return predicted.count() == 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>((predicted - simulated).count()) / static_cast<double>(simulated.count());
}

Comparison compare(const Answer& predicted, const Answer& simulated) {
  Comparison result;
  result.operators = compare_operators(predicted, simulated);
  result.layers = compare_layers(predicted, simulated);
  result.stages = compare_stages(predicted, simulated);
  result.iteration = {{"iteration", "iteration", predicted.iteration.time, simulated.iteration.time}};
  result.causes = compare_causes(predicted.iteration.by_cause, simulated.iteration.by_cause);
  return result;
}

std::string comparison_text(const Comparison& comparison) {
  constexpr std::size_t kRows = 16;
  std::string text = "error: (predicted - simulated) / simulated\n\n" + times_table(comparison.iteration, kRows);
  text += "\n" + times_table(comparison.stages, kRows) + "\n" + times_table(comparison.layers, kRows);
  text += "\n" + times_table(comparison.operators, kRows);
  text += "\nwhat the prediction missed of the operators, largest sums of differences by cause first\n" +
          operator_causes_table(comparison.operators, kRows);
  text += "\nwhat the prediction missed of the iteration, by cause (simulated - predicted)\n";
  TextTable causes({"cause", "predicted", "simulated", "missed"});
  for (const MissedCause& row : comparison.causes) {
    causes.add(
        {std::string(name_of(row.cause)), to_text(row.predicted), to_text(row.simulated), signed_time(row.missed())});
  }
  text += causes.text();
  if (!comparison.ablations.empty()) {
    text += "\nwith one effect switched off at a time (these need not add up)\n" + ablation_table(comparison);
  }
  return text;
}

Json to_json(const Comparison& comparison) {
  const auto missed_json = [](const std::vector<MissedCause>& causes) {
    Json list = Json::array();
    for (const MissedCause& row : causes) {
      list.push_back({{"cause", name_of(row.cause)},
                      {"predicted_s", seconds(row.predicted)},
                      {"simulated_s", seconds(row.simulated)},
                      {"missed_s", seconds(row.missed())}});
    }
    return list;
  };
  const auto times = [&](const std::vector<ComparedTime>& rows) {
    Json list = Json::array();
    for (const ComparedTime& row : rows) {
      list.push_back({{"name", row.name},
                      {"predicted_s", seconds(row.predicted)},
                      {"simulated_s", seconds(row.simulated)},
                      {"error", row.error()}});
      if (!row.causes.empty()) list.back()["missed_by_cause"] = missed_json(row.causes);
    }
    return list;
  };
  Json json{{"operators", times(comparison.operators)},
            {"layers", times(comparison.layers)},
            {"stages", times(comparison.stages)},
            {"iteration", times(comparison.iteration).front()}};
  json["missed_by_cause"] = missed_json(comparison.causes);
  json["ablation"] = Json::array();
  for (const Ablation& row : comparison.ablations) {
    Json entry{{"without", row.effect}};
    if (row.time) {
      entry["time_s"] = seconds(*row.time);
    } else {
      entry["failed"] = row.reason;
    }
    json["ablation"].push_back(std::move(entry));
  }
  return json;
}

std::string comparison_csv(const Comparison& comparison) {
  std::string text = "level,name,predicted_s,simulated_s,error\n";
  for (const auto* rows : {&comparison.operators, &comparison.layers, &comparison.stages, &comparison.iteration}) {
    for (const ComparedTime& row : *rows) {
      text += fmt::format("{},{},{:.12g},{:.12g},{:.6g}\n", row.level, csv_quoted(row.name), seconds(row.predicted),
                          seconds(row.simulated), row.error());
    }
  }
  return text;
}

}  // namespace tandem
