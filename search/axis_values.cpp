// SPDX-License-Identifier: Apache-2.0
#include "search/axis_values.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace tandem {
namespace {

constexpr double kMostValues = 100'000;
constexpr auto kForms = "a value, a list of values, {from:, to:, step:} or {powers_of_two: [first, last]}";

AxisValues wrong(std::string problem) { return {{}, std::move(problem), kForms}; }

/// "64 MiB" as 64 and " MiB".
struct Measure {
  double number = 0;
  std::string unit;
};

std::optional<Measure> measure(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::scalar || node.quoted) return std::nullopt;
  Measure read;
  const char* end = node.scalar.data() + node.scalar.size();
  const auto [rest, error] = std::from_chars(node.scalar.data(), end, read.number);
  if (error != std::errc() || !std::isfinite(read.number)) return std::nullopt;
  read.unit.assign(rest, end);
  return read;
}

std::string text(double number, const std::string& unit) { return fmt::format("{}{}", number, unit); }

AxisValues span_values(const ConfigNode& node) {
  const auto part = [&node](std::string_view key) {
    const ConfigNode* found = node.find(key);
    return found == nullptr ? std::nullopt : measure(*found);
  };
  const auto from = part("from");
  const auto to = part("to");
  const auto step = part("step");
  if (!from || !to || !step) return wrong("needs numbers from, to and step");
  if (from->unit != to->unit || from->unit != step->unit) return wrong("has different units in from, to and step");
  if (step->number <= 0 || to->number < from->number) return wrong("does not rise from `from` to `to`");
  const double count = std::floor((to->number - from->number) / step->number + 1e-9) + 1;
  if (count > kMostValues) return wrong("has more than 100000 values");
  AxisValues read;
  for (double i = 0; i < count; ++i) read.values.push_back(text(from->number + i * step->number, from->unit));
  return read;
}

AxisValues powers(const ConfigNode& ends) {
  if (ends.kind != ConfigNode::Kind::list || ends.items.size() != 2) return wrong("needs the first and the last value");
  const auto first = measure(ends.items[0]);
  const auto last = measure(ends.items[1]);
  if (!first || !last || first->unit != last->unit) return wrong("needs two numbers of one unit");
  if (first->number <= 0 || last->number < first->number) return wrong("does not rise from a positive value");
  AxisValues read;
  for (double value = first->number; value <= last->number; value *= 2) {
    read.values.push_back(text(value, first->unit));
  }
  return read;
}

AxisValues map_values(const ConfigNode& node) {
  for (const auto& entry : node.entries) {
    if (entry.key == "powers_of_two" && node.entries.size() == 1) return powers(entry.value);
    if (entry.key != "from" && entry.key != "to" && entry.key != "step") {
      return wrong(fmt::format("has an unknown or misplaced key {}", entry.key));
    }
  }
  if (node.entries.size() != 3) return wrong("needs from, to and step once each");
  return span_values(node);
}

}  // namespace

AxisValues read_axis_values(const ConfigNode& node) {
  if (node.kind == ConfigNode::Kind::map) return map_values(node);
  AxisValues read;
  if (node.kind == ConfigNode::Kind::scalar) read.values.push_back(node.scalar);
  for (const ConfigNode& item : node.items) {
    if (item.kind != ConfigNode::Kind::scalar) return wrong("holds something that is no scalar");
    read.values.push_back(item.scalar);
  }
  if (read.values.empty()) return wrong("has no values");
  return read;
}

}  // namespace tandem
