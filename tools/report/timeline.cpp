// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "arch/support/units.h"
#include "sim/trace_sink.h"
#include "tools/report/charts.h"

namespace tandem {
namespace {

constexpr double kWidth = 960, kLabels = 230, kRight = 20, kTop = 40, kBar = 16, kPitch = 22;
constexpr std::size_t kMostRows = 24;

std::string_view colour_of(EventKind kind) {
  switch (kind) {
    case EventKind::compute:
    case EventKind::forward: return "#0b6aa8";
    case EventKind::vector:
    case EventKind::backward: return "#5aa0d0";
    case EventKind::collective: return "#00795a";
    case EventKind::send: return "#4fb08f";
    case EventKind::update: return "#d1495b";
    case EventKind::launch: return "#e9a3ad";
    case EventKind::software: return "#9a9a9a";
    case EventKind::dma_read:
    case EventKind::dma_write:
    case EventKind::hbm_read:
    case EventKind::hbm_write: return "#e07b00";
    case EventKind::noc_read:
    case EventKind::noc_write: return "#8a4fa3";
  }
  return "#000000";
}

struct Bar {
  std::int64_t start_ps = 0, end_ps = 0, kind = 0;
};

/// Events of each unit, those of one kind that are nearer than a pixel joined.
class Rows {
 public:
  explicit Rows(std::int64_t pixel_ps) : pixel_ps_(std::max<std::int64_t>(pixel_ps, 1)) {}

  void add(const TraceSpan& span) {
    std::vector<Bar>& bars = rows_[span.unit];
    const bool joins = !bars.empty() && bars.back().kind == span.kind &&
                       span.start_ps - bars.back().end_ps < pixel_ps_ / 4 && span.start_ps >= bars.back().start_ps;
    if (joins) {
      bars.back().end_ps = std::max(bars.back().end_ps, span.end_ps);
    } else {
      bars.push_back({span.start_ps, span.end_ps, span.kind});
    }
  }
  [[nodiscard]] const std::map<std::int64_t, std::vector<Bar>>& rows() const { return rows_; }

 private:
  std::int64_t pixel_ps_;
  std::map<std::int64_t, std::vector<Bar>> rows_;
};

/// Data parallel replicas do the same at the same time; the first stands for them ("stage0.dp1.cp0" does not).
bool is_another_replica(const std::string& unit) {
  const std::size_t at = unit.find(".dp");
  if (at == std::string::npos) return false;
  return unit.compare(at, 4, ".dp0") != 0;
}

}  // namespace

Svg timeline_chart(const TraceFile& trace) {
  std::int64_t end = 1;
  trace.for_each("/events", [&](const TraceSpan& span) { end = std::max(end, span.end_ps); });
  const double plot = kWidth - kLabels - kRight;
  Rows rows(static_cast<std::int64_t>(static_cast<double>(end) / plot));
  std::map<std::int64_t, std::string> names;
  for (const TraceUnit& unit : trace.units()) names[unit.id] = unit.name;
  trace.for_each("/events", [&](const TraceSpan& span) {
    if (!is_another_replica(names[span.unit])) rows.add(span);
  });
  const std::size_t shown = std::min(rows.rows().size(), kMostRows);
  const double bottom = kTop + kPitch * static_cast<double>(shown);
  Svg svg(kWidth, bottom + 48);

  std::set<std::int64_t> kinds;
  double y = kTop;
  std::size_t row = 0;
  for (const auto& [unit, bars] : rows.rows()) {
    if (row++ == shown) break;
    svg.text({kLabels - 8, y + 12}, names[unit], Anchor::end);
    for (const Bar& bar : bars) {
      kinds.insert(bar.kind);
      const double x = kLabels + plot * static_cast<double>(bar.start_ps) / static_cast<double>(end);
      const double width = plot * static_cast<double>(bar.end_ps - bar.start_ps) / static_cast<double>(end);
      svg.rect({x, y}, std::max(width, 0.4), kBar, colour_of(static_cast<EventKind>(bar.kind)),
               fmt::format("{} on {}\n{} to {}", trace.kind_name(bar.kind), names[unit],
                           to_text(Picoseconds(bar.start_ps)), to_text(Picoseconds(bar.end_ps))));
    }
    y += kPitch;
  }
  double x = kLabels;
  for (const std::int64_t kind : kinds) {
    svg.rect({x, 11}, 10, 10, colour_of(static_cast<EventKind>(kind)));
    svg.text({x + 14, 20}, trace.kind_name(kind));
    x += 34 + 7 * static_cast<double>(trace.kind_name(kind).size());
  }
  for (const double value : ticks(static_cast<double>(end), 6)) {
    if (value > static_cast<double>(end)) break;
    const double at = kLabels + plot * value / static_cast<double>(end);
    svg.line({at, bottom}, {at, bottom + 5}, "#999");
    svg.text({at, bottom + 20}, to_text(Picoseconds(static_cast<std::int64_t>(value))), Anchor::middle, "#666");
  }
  if (rows.rows().size() > shown) {
    svg.text({kLabels, bottom + 40}, fmt::format("the first {} of {} units", shown, rows.rows().size()), Anchor::start,
             "#666");
  }
  return svg;
}

}  // namespace tandem
