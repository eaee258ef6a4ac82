// SPDX-License-Identifier: Apache-2.0
#include "tools/against/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace tandem {
namespace {

constexpr double kSize = 640, kMargin = 60, kDot = 2.2;
constexpr std::string_view kPredicted = "#e07b00", kSimulated = "#2b6cb0", kGrid = "#e3e3e3", kGuide = "#999";

struct Dot {
  double reference = 0, value = 0;
  std::string_view colour;
  std::string title;
};

std::vector<Dot> dots_of(const CsvTable& table, const std::vector<RowOutcome>& outcomes) {
  std::vector<Dot> dots;
  for (const RowOutcome& outcome : outcomes) {
    if (outcome.answer.metrics.empty()) continue;
    const RowMetric& metric = outcome.answer.metrics.front();
    const auto add = [&](double value, std::string_view colour, const char* answer) {
      if (!(value > 0) || !(metric.reference > 0)) return;
      dots.push_back(
          {metric.reference, value, colour,
           fmt::format("line {}: {} {:.4g}, published {:.4g} ({:+.1f} %)", table.rows[outcome.row].front().line, answer,
                       value, metric.reference, 100 * (value / metric.reference - 1))});
    };
    add(metric.predicted, kPredicted, "predicted");
    add(metric.simulated, kSimulated, "simulated");
  }
  return dots;
}

/// Both axes alike, between whole powers of ten.
class Scale {
 public:
  explicit Scale(const std::vector<Dot>& dots) {
    for (const Dot& dot : dots) {
      for (const double value : {dot.reference, dot.value}) {
        const double power = std::log10(value);
        low_ = std::min(low_.value_or(power), std::floor(power));
        high_ = std::max(high_.value_or(power), std::ceil(power));
      }
    }
  }
  [[nodiscard]] int low() const { return static_cast<int>(low_.value_or(0)); }
  [[nodiscard]] int high() const { return std::max(low() + 1, static_cast<int>(high_.value_or(0))); }
  [[nodiscard]] Point at(double x, double y) const { return {kMargin + share(x), kSize - kMargin - share(y)}; }

 private:
  [[nodiscard]] double share(double value) const {
    const double part = (std::log10(value) - low()) / (high() - low());
    return (kSize - 2 * kMargin) * std::clamp(part, 0.0, 1.0);
  }
  std::optional<double> low_, high_;
};

void draw_axes(Svg& svg, const Scale& scale, const std::string& quantity) {
  const double least = std::pow(10.0, scale.low());
  const double most = std::pow(10.0, scale.high());
  for (int power = scale.low(); power <= scale.high(); ++power) {
    const double value = std::pow(10.0, power);
    svg.line(scale.at(value, least), scale.at(value, most), kGrid);
    svg.line(scale.at(least, value), scale.at(most, value), kGrid);
    const Point below = scale.at(value, least);
    const Point beside = scale.at(least, value);
    svg.text({below.x, below.y + 18}, fmt::format("1e{}", power), Anchor::middle, "#666");
    svg.text({beside.x - 6, beside.y + 4}, fmt::format("1e{}", power), Anchor::end, "#666");
  }
  constexpr double kOff = 1.25;
  svg.line(scale.at(least, least), scale.at(most, most), kGuide, 1.5);
  svg.line(scale.at(least, least * kOff), scale.at(most / kOff, most), kGuide, 0.5);
  svg.line(scale.at(least * kOff, least), scale.at(most, most / kOff), kGuide, 0.5);
  svg.text({kSize / 2, kSize - 16}, quantity + ", published", Anchor::middle);
  svg.text({kMargin, 20}, quantity + ":");
  svg.text({kMargin + 150, 20}, "predicted", Anchor::start, kPredicted);
  svg.text({kMargin + 230, 20}, "simulated", Anchor::start, kSimulated);
  svg.text({kMargin + 310, 20}, "thin lines: a quarter off", Anchor::start, "#666");
}

}  // namespace

Svg scatter_plot(const CsvTable& table, const std::vector<RowOutcome>& outcomes) {
  Svg svg(kSize, kSize);
  const std::vector<Dot> dots = dots_of(table, outcomes);
  const Scale scale(dots);
  std::string quantity = "no row ran";
  for (const RowOutcome& outcome : outcomes) {
    if (!outcome.answer.metrics.empty()) quantity = outcome.answer.metrics.front().name;
  }
  draw_axes(svg, scale, quantity);
  for (const Dot& dot : dots) svg.circle(scale.at(dot.reference, dot.value), kDot, dot.colour, dot.title);
  return svg;
}

}  // namespace tandem
