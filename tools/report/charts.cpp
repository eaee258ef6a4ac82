// SPDX-License-Identifier: Apache-2.0
#include "tools/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/support/enum_names.h"
#include "arch/support/units.h"
#include "workloads/answer.h"

namespace tandem {
namespace {

constexpr double kWidth = 960, kLabelWidth = 230, kRightMargin = 70, kRow = 16;
constexpr std::string_view kPredicted = "#9ec9e8", kSimulated = "#0b6aa8", kBaseline = "#d55e00", kGrid = "#e3e3e3";

/// Compute blue, memory orange, on-chip transport purple, communication green, waiting grey.
std::string_view colour_of_cause(const std::string& name) {
  const auto cause = enum_from_name<Cause>(name);
  if (!cause) return "#000000";
  switch (*cause) {
    case Cause::compute: return "#0b6aa8";
    case Cause::tile_quantisation: return "#5aa0d0";
    case Cause::fill_drain: return "#9ec9e8";
    case Cause::vector_compute: return "#2b3a8c";
    case Cause::hbm_bandwidth: return "#e07b00";
    case Cause::hbm_overhead: return "#f4b860";
    case Cause::noc: return "#8a4fa3";
    case Cause::buffer_stall: return "#c79bd6";
    case Cause::launch: return "#d1495b";
    case Cause::dependency: return "#e9a3ad";
    case Cause::tensor_communication: return "#00795a";
    case Cause::pipeline_communication: return "#4fb08f";
    case Cause::data_communication: return "#a5d8c5";
    case Cause::bubble: return "#9a9a9a";
    case Cause::software: return "#5c5c5c";
  }
  return "#000000";
}

double best_of(const std::vector<ChartCandidate>& candidates) {
  double best = 0;
  for (const ChartCandidate& candidate : candidates) {
    best = std::max({best, candidate.predicted.value_or(0), candidate.simulated.value_or(0)});
  }
  return best;
}

void legend(Svg& svg, Point at, const std::vector<std::pair<std::string, std::string_view>>& entries) {
  constexpr double kCharacter = 7, kSwatch = 10;
  for (const auto& [name, colour] : entries) {
    const double width = kSwatch + 20 + kCharacter * static_cast<double>(name.size());
    if (at.x + width > kWidth) at = {kLabelWidth, at.y + kRow};
    svg.rect({at.x, at.y - kSwatch + 1}, kSwatch, kSwatch, colour);
    svg.text({at.x + kSwatch + 4, at.y}, name);
    at.x += width;
  }
}

/// Vertical grid lines with labels over [top, bottom]; returns the value at the right edge.
double value_axis(Svg& svg, double most, double top, double bottom, const std::string& unit) {
  const std::vector<double> values = ticks(most, 6);
  const double plot = kWidth - kLabelWidth - kRightMargin;
  for (const double value : values) {
    const double x = kLabelWidth + plot * (values.back() > 0 ? value / values.back() : 0);
    svg.line({x, top}, {x, bottom}, kGrid);
    svg.text({x, bottom + kRow}, short_number(value), Anchor::middle, "#666");
  }
  svg.text({kLabelWidth - 8, bottom + kRow}, unit, Anchor::end, "#666");
  return values.back() > 0 ? values.back() : 1;
}

std::string tip(const ChartCandidate& candidate, const char* which, double value) {
  return fmt::format("{}\n{}\n{} {:.6g} tokens/s, {:.0f} mm2", candidate.label, candidate.detail, which, value,
                     candidate.area_mm2);
}

/// Points that no other one beats in both area and throughput, by area.
std::vector<std::pair<double, double>> front_of(std::vector<std::pair<double, double>> points) {
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.second > b.second; });
  std::vector<std::pair<double, double>> front;
  for (const auto& point : points) {
    if (front.empty() || point.second > front.back().second) front.push_back(point);
  }
  return front;
}

}  // namespace

Svg ranking_chart(const std::vector<ChartCandidate>& candidates) {
  constexpr double kTop = 40, kGroup = 34;
  const double bottom = kTop + kGroup * static_cast<double>(candidates.size());
  Svg svg(kWidth, bottom + 30);
  legend(svg, {kLabelWidth, 20}, {{"predicted", kPredicted}, {"simulated", kSimulated}});
  const double most = value_axis(svg, best_of(candidates), kTop - 6, bottom, "tokens/s");
  const double plot = kWidth - kLabelWidth - kRightMargin;
  double y = kTop;
  for (const ChartCandidate& candidate : candidates) {
    svg.text({kLabelWidth - 8, y + kRow}, candidate.label, Anchor::end);
    const auto bar = [&](const std::optional<double>& value, double at, std::string_view colour, const char* which) {
      if (!value) return;
      svg.rect({kLabelWidth, at}, plot * *value / most, 12, colour, tip(candidate, which, *value));
      svg.text({kLabelWidth + plot * *value / most + 4, at + 10}, short_number(*value), Anchor::start, "#666");
    };
    bar(candidate.predicted, y, kPredicted, "predicted");
    bar(candidate.simulated, y + 13, kSimulated, "simulated");
    y += kGroup;
  }
  return svg;
}

Svg cause_chart(const std::vector<ChartCandidate>& candidates) {
  constexpr double kTop = 64, kGroup = 26;
  std::map<std::string, double> totals;
  double longest = 0;
  std::size_t bars = 0;
  for (const ChartCandidate& candidate : candidates) {
    double sum = 0;
    for (const auto& [cause, seconds] : candidate.seconds_by_cause) {
      totals[cause] += seconds;
      sum += seconds;
    }
    longest = std::max(longest, sum);
    bars += candidate.seconds_by_cause.empty() ? 0 : 1;
  }
  const double bottom = kTop + kGroup * static_cast<double>(bars);
  Svg svg(kWidth, bottom + 30);
  std::vector<std::pair<std::string, std::string_view>> entries;
  for (const auto& [cause, name] : EnumNames<Cause>::values) {
    const auto found = totals.find(std::string(name));
    if (found != totals.end() && found->second > 0) entries.emplace_back(name, colour_of_cause(std::string(name)));
  }
  legend(svg, {kLabelWidth, 20}, entries);
  const double most = value_axis(svg, longest, kTop - 6, bottom, "s");
  const double plot = kWidth - kLabelWidth - kRightMargin;
  double y = kTop;
  for (const ChartCandidate& candidate : candidates) {
    if (candidate.seconds_by_cause.empty()) continue;
    svg.text({kLabelWidth - 8, y + 14}, candidate.label, Anchor::end);
    double x = kLabelWidth;
    for (const auto& [name, colour] : entries) {
      const auto part = candidate.seconds_by_cause.find(name);
      if (part == candidate.seconds_by_cause.end() || part->second <= 0) continue;
      const double width = plot * part->second / most;
      svg.rect({x, y}, width, 18, colour,
               fmt::format("{}\n{}: {}", candidate.label, name, to_text(Seconds(part->second))));
      x += width;
    }
    y += kGroup;
  }
  return svg;
}

Svg pareto_chart(const std::vector<ChartCandidate>& all, const std::vector<ChartCandidate>& baselines) {
  constexpr double kHeight = 420, kTop = 40, kLeft = 80, kBottom = 370;
  Svg svg(kWidth, kHeight);
  double most_area = 0;
  for (const auto* group : {&all, &baselines}) {
    for (const ChartCandidate& candidate : *group) most_area = std::max(most_area, candidate.area_mm2);
  }
  const std::vector<double> across = ticks(most_area, 8), up = ticks(std::max(best_of(all), best_of(baselines)), 6);
  const double plot = kWidth - kLeft - kRightMargin;
  const auto place = [&](double area, double rate) {
    return Point{kLeft + plot * area / std::max(across.back(), 1e-9),
                 kBottom - (kBottom - kTop) * rate / std::max(up.back(), 1e-9)};
  };
  for (const double value : across) {
    svg.line({place(value, 0).x, kTop}, {place(value, 0).x, kBottom}, kGrid);
    svg.text({place(value, 0).x, kBottom + kRow}, short_number(value), Anchor::middle, "#666");
  }
  for (const double value : up) {
    svg.line({kLeft, place(0, value).y}, {kWidth - kRightMargin, place(0, value).y}, kGrid);
    svg.text({kLeft - 6, place(0, value).y + 4}, short_number(value), Anchor::end, "#666");
  }
  svg.text({kWidth / 2, kBottom + 2 * kRow + 2}, "area of a chip, mm2", Anchor::middle, "#666");
  svg.text({kLeft, kTop - 10}, "tokens/s", Anchor::middle, "#666");
  legend(svg, {kLabelWidth, 20},
         {{"predicted", kPredicted}, {"simulated", kSimulated}, {"baseline, simulated", kBaseline}});

  const auto draw_front = [&](std::optional<double> ChartCandidate::*which, std::string_view colour) {
    std::vector<std::pair<double, double>> points;
    for (const ChartCandidate& candidate : all) {
      if (candidate.*which) points.emplace_back(candidate.area_mm2, *(candidate.*which));
    }
    std::vector<Point> steps;
    for (const auto& [area, rate] : front_of(points)) {
      if (!steps.empty()) steps.push_back({place(area, rate).x, steps.back().y});
      steps.push_back(place(area, rate));
    }
    if (steps.size() > 1) svg.path(steps, colour);
  };
  draw_front(&ChartCandidate::predicted, kPredicted);
  draw_front(&ChartCandidate::simulated, kSimulated);
  for (const ChartCandidate& candidate : all) {
    if (candidate.predicted) {
      svg.circle(place(candidate.area_mm2, *candidate.predicted), 2.5, kPredicted,
                 tip(candidate, "predicted", *candidate.predicted));
    }
  }
  for (const ChartCandidate& candidate : all) {
    if (candidate.simulated) {
      svg.circle(place(candidate.area_mm2, *candidate.simulated), 4, kSimulated,
                 tip(candidate, "simulated", *candidate.simulated));
    }
  }
  for (const ChartCandidate& candidate : baselines) {
    const auto value = candidate.simulated ? candidate.simulated : candidate.predicted;
    if (value) svg.circle(place(candidate.area_mm2, *value), 5, kBaseline, tip(candidate, "baseline", *value));
  }
  return svg;
}

}  // namespace tandem
