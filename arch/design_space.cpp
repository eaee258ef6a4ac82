// SPDX-License-Identifier: Apache-2.0
#include "arch/design_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "arch/area.h"
#include "arch/chip_check.h"
#include "arch/field_setter.h"
#include "arch/support/error.h"
#include "arch/tie.h"

namespace tandem {
namespace {

/// Every field may be set by one axis or one tie.
void check_fields_differ(const DesignSpace& space) {
  std::set<std::string> seen;
  const auto add = [&seen](const std::string& path) {
    if (seen.insert(path).second) return;
    throw ConfigError({{.file = "design space",
                        .path = path,
                        .problem = "is set by two axes or ties",
                        .expected = "each field once",
                        .suggestion = {}}});
  };
  for (const DesignAxis& axis : space.axes) add(axis.path);
  for (const auto& [field, source] : space.ties) add(field);
}

/// The largest power of any type that the chip computes in.
Power worst_power(const Chip& chip, const Technology& technology) {
  Power worst{};
  for (const auto& [type, rate] : chip.tensor.macs_per_pe) {
    worst = std::max(worst, estimate_peak_power(chip, technology, type));
  }
  return worst;
}

const std::int64_t* count_field(Chip& chip, const std::string& path) {
  if (const auto field = find_field(chip, path)) {
    if (auto* const* count = std::get_if<std::int64_t*>(&*field)) return *count;
  }
  throw ConfigError({{.file = "design space",
                      .path = path,
                      .problem = "is no count of a chip",
                      .expected = "a count such as tensor_cores.count",
                      .suggestion = {}}});
}

/// One chip that is walked through all points of a space.
class Walker {
 public:
  explicit Walker(const DesignSpace& space) : space_(space), digits_(space.axes.size()) {
    check_fields_differ(space);
    point_.chip = space.base;
    for (const DesignAxis& axis : space.axes) setters_.push_back(make_setter(point_.chip, axis.path, axis.values));
    for (const auto& [field, source] : space.ties) ties_.push_back(make_tie(point_.chip, field, source));
    for (const std::string& path : space.min_area_unless_one) spared_if_one_.push_back(count_field(point_.chip, path));
    for (const FieldSetter& setter : setters_) setter.set(0);
  }
  Walker(const Walker&) = delete;  // the setters hold the chip
  Walker& operator=(const Walker&) = delete;

  /// Moves to the next point; false after the last.
  bool advance() {
    for (std::size_t axis = digits_.size(); axis-- > 0;) {
      digits_[axis] = (digits_[axis] + 1) % setters_[axis].values;
      setters_[axis].set(digits_[axis]);
      if (digits_[axis] != 0) {
        ++point_.index;
        return true;
      }
    }
    return false;
  }

  /// Visits the present point unless something rules it out.
  void consider(const std::function<void(const DesignPoint&)>& visit, DesignCounts& counts) {
    ++counts.enumerated;
    for (const std::function<void()>& tie : ties_) tie();
    if (const auto problems = chip_problems(point_.chip); !problems.empty()) {
      if (counts.contradictory++ == 0) {
        counts.first_contradiction = fmt::format("{}: {}", problems.front().path, problems.front().problem);
      }
      return;
    }
    point_.area = estimate_area(point_.chip, space_.technology).total();
    if (space_.max_area && point_.area > *space_.max_area) {
      ++counts.over_area;
    } else if (too_small()) {
      ++counts.under_area;
    } else if (space_.max_power && worst_power(point_.chip, space_.technology) > *space_.max_power) {
      ++counts.over_power;
    } else {
      visit(point_);
    }
  }

 private:
  [[nodiscard]] bool too_small() const {
    if (!space_.min_area || point_.area >= *space_.min_area) return false;
    return std::none_of(spared_if_one_.begin(), spared_if_one_.end(),
                        [](const std::int64_t* count) { return *count == 1; });
  }

  const DesignSpace& space_;
  DesignPoint point_;
  std::vector<FieldSetter> setters_;
  std::vector<std::function<void()>> ties_;
  std::vector<const std::int64_t*> spared_if_one_;
  std::vector<std::size_t> digits_;
};

}  // namespace

std::int64_t DesignSpace::size() const {
  std::int64_t points = 1;
  for (const DesignAxis& axis : axes) points = checked_product(points, axis.values.size());
  return points;
}

DesignCounts enumerate(const DesignSpace& space, const std::function<void(const DesignPoint&)>& visit) {
  DesignCounts counts;
  Walker walker(space);
  do {
    walker.consider(visit, counts);
  } while (walker.advance());
  return counts;
}

}  // namespace tandem
