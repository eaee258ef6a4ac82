// SPDX-License-Identifier: Apache-2.0
// Drawing with shapes and labels; nothing here knows what is drawn.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem {

struct Point {
  double x = 0, y = 0;
};

enum class Anchor { start, middle, end };

class Svg {
 public:
  Svg(double width, double height);

  /// `title` shows when the pointer rests on the shape; empty: none.
  void rect(Point at, double width, double height, std::string_view fill, std::string_view title = {});
  void circle(Point centre, double radius, std::string_view fill, std::string_view title = {});
  void line(Point from, Point to, std::string_view stroke, double width = 1);
  void path(const std::vector<Point>& points, std::string_view stroke);
  void text(Point at, std::string_view text, Anchor anchor = Anchor::start, std::string_view fill = "#333");

  /// A whole element with its own size, background and font.
  [[nodiscard]] std::string element() const;
  [[nodiscard]] double height() const { return height_; }

 private:
  double width_, height_;
  std::string body_;
};

std::string escaped(std::string_view text);  ///< for text and attributes of XML

/// Round values from 0 to at least `most`, about `count` of them.
std::vector<double> ticks(double most, int count);
/// 1234567 as "1.23 M".
std::string short_number(double value);

}  // namespace tandem
