// SPDX-License-Identifier: Apache-2.0
#include "tools/report/svg.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tandem {
namespace {

std::string shape(const std::string& open, const std::string& name, std::string_view title) {
  if (title.empty()) return open + "/>\n";
  return fmt::format("{}><title>{}</title></{}>\n", open, escaped(title), name);
}

std::string_view name_of_anchor(Anchor anchor) {
  switch (anchor) {
    case Anchor::start: return "start";
    case Anchor::middle: return "middle";
    case Anchor::end: return "end";
  }
  return "start";
}

}  // namespace

Svg::Svg(double width, double height) : width_(width), height_(height) {}

void Svg::rect(Point at, double width, double height, std::string_view fill, std::string_view title) {
  body_ += shape(fmt::format(R"(<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}")", at.x, at.y,
                             width, height, fill),
                 "rect", title);
}

void Svg::circle(Point centre, double radius, std::string_view fill, std::string_view title) {
  body_ +=
      shape(fmt::format(R"(<circle cx="{:.2f}" cy="{:.2f}" r="{:.2f}" fill="{}")", centre.x, centre.y, radius, fill),
            "circle", title);
}

void Svg::line(Point from, Point to, std::string_view stroke, double width) {
  body_ += fmt::format(R"(<line x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" stroke="{}" stroke-width="{}"/>)",
                       from.x, from.y, to.x, to.y, stroke, width) +
           "\n";
}

void Svg::path(const std::vector<Point>& points, std::string_view stroke) {
  std::string data;
  for (const Point& point : points) data += fmt::format("{:.2f},{:.2f} ", point.x, point.y);
  body_ += fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="1.5"/>)", data, stroke) + "\n";
}

void Svg::text(Point at, std::string_view text, Anchor anchor, std::string_view fill) {
  body_ += fmt::format(R"(<text x="{:.2f}" y="{:.2f}" text-anchor="{}" fill="{}">{}</text>)", at.x, at.y,
                       name_of_anchor(anchor), fill, escaped(text)) +
           "\n";
}

std::string Svg::element() const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}</svg>\n",
      width_, height_, body_);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::vector<double> ticks(double most, int count) {
  if (!(most > 0) || !std::isfinite(most)) return {0};
  const double rough = most / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> values;
  for (int i = 0; values.empty() || values.back() < most; ++i) values.push_back(i * step);
  return values;
}

std::string short_number(double value) {
  constexpr std::array<std::pair<double, const char*>, 4> kPrefixes{
      {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  for (const auto& [scale, prefix] : kPrefixes) {
    if (std::abs(value) >= scale) return fmt::format("{:.3g}{}", value / scale, prefix);
  }
  return fmt::format("{:.3g}", value);
}

}  // namespace tandem
