// SPDX-License-Identifier: Apache-2.0
#include "arch/chip_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/hbm_mapping.h"
#include "arch/support/units.h"

namespace tandem {
namespace {

// A field that is zero here was refused, or not given, already: it is not compared again.

/// Times written with four digits may differ from a derived one by rounding.
constexpr double kRounding = 1e-3;

bool below(Seconds a, Seconds b) { return a < b * (1 - kRounding); }

void check_local_buffers(const Chip& chip, std::vector<ChipProblem>& problems) {
  Bytes element(1);
  for (const auto& [type, rate] : chip.tensor.macs_per_pe) element = std::max(element, size_of(type));
  const TensorCores& tensor = chip.tensor;
  if (tensor.local_buffer == Bytes(0) || chip.vector.local_buffer == Bytes(0)) return;
  const Bytes tile = element * (checked_product(tensor.rows, tensor.cols) + tensor.rows + tensor.cols);
  if (tensor.local_buffer < tile) {
    problems.push_back({"tensor_cores.local_buffer",
                        fmt::format("{} cannot hold one {} x {} tile and its two vectors", to_text(tensor.local_buffer),
                                    tensor.rows, tensor.cols),
                        fmt::format("at least {}", to_text(tile))});
  }
  const Bytes vectors = Bytes(8) * chip.vector.lanes;
  if (chip.vector.local_buffer < vectors) {
    problems.push_back({"vector_cores.local_buffer",
                        fmt::format("{} cannot hold two 4-byte operands for each of {} lanes",
                                    to_text(chip.vector.local_buffer), chip.vector.lanes),
                        fmt::format("at least {}", to_text(vectors))});
  }
  const Bytes largest = std::max(tensor.local_buffer, chip.vector.local_buffer);
  if (chip.glb.capacity > Bytes(0) && chip.glb.capacity < largest) {
    problems.push_back(
        {"global_buffer.capacity",
         fmt::format("{} is less than one core's local buffer of {}", to_text(chip.glb.capacity), to_text(largest)),
         "a global buffer that can fill a core"});
  }
}

bool is_ideal(const HbmTiming& t) {
  const Seconds sum =
      t.trcd + t.trp + t.tras + t.tcl + t.tccd_s + t.tccd_l + t.trrd + t.tfaw + t.twtr + t.trtw + t.trefi + t.trfc;
  return sum == Seconds(0) && t.page == Bytes(0);
}

void check_all_given(const HbmTiming& t, std::vector<ChipProblem>& problems) {
  const std::pair<std::string_view, Seconds> needed[] = {{"trcd", t.trcd}, {"trp", t.trp},       {"tras", t.tras},
                                                         {"tcl", t.tcl},   {"tccd_s", t.tccd_s}, {"tccd_l", t.tccd_l},
                                                         {"trrd", t.trrd}, {"tfaw", t.tfaw},     {"twtr", t.twtr},
                                                         {"trtw", t.trtw}, {"trefi", t.trefi},   {"trfc", t.trfc}};
  for (const auto& [name, value] : needed) {
    if (value == Seconds(0)) {
      problems.push_back({fmt::format("hbm.timing.{}", name), "missing or zero while other timings are given",
                          "all timings, or none for an ideal memory"});
    }
  }
}

void check_timing(const Hbm& hbm, std::vector<ChipProblem>& problems) {
  const HbmTiming& t = hbm.timing;
  if (is_ideal(t)) return;
  check_all_given(t, problems);
  const bool has_rate = hbm.channels() > 0 && hbm.bandwidth > Bandwidth(0);
  const Seconds burst = has_rate ? hbm.atom / hbm.channel_bandwidth() : Seconds(0);
  const auto shorter = [&problems](std::string_view name, Seconds value, std::string_view bound_name, Seconds bound) {
    if (value == Seconds(0) || !below(value, bound)) return;
    problems.push_back({fmt::format("hbm.timing.{}", name),
                        fmt::format("{} is less than {} of {}", to_text(value), bound_name, to_text(bound)),
                        fmt::format("at least {}", to_text(bound))});
  };
  shorter("tccd_l", t.tccd_l, "tccd_s", t.tccd_s);
  shorter("tccd_l", t.tccd_l, "the burst time (atom over channel bandwidth)", burst);
  shorter("tras", t.tras, "trcd", t.trcd);
  shorter("tfaw", t.tfaw, "trrd", t.trrd);
  if (t.trefi > Seconds(0) && t.trefi <= t.trfc) {
    problems.push_back({"hbm.timing.trefi",
                        fmt::format("{} leaves no time beside a refresh of {}", to_text(t.trefi), to_text(t.trfc)),
                        "a refresh interval longer than trfc"});
  }
  if (t.page < hbm.atom) {
    problems.push_back({"hbm.timing.page",
                        fmt::format("{} is smaller than one access of {}", to_text(t.page), to_text(hbm.atom)),
                        "a row of at least one atom"});
  }
}

void check_controller(const Hbm& hbm, std::vector<ChipProblem>& problems) {
  const HbmController& controller = hbm.controller;
  if (!mapping_order(controller.mapping)) {
    problems.push_back({"hbm.controller.mapping", fmt::format("'{}' does not name each field once", controller.mapping),
                        "row, bank_group, bank, column and channel, from high to low"});
  }
  const std::int64_t part = controller.interleave.value();
  const std::int64_t page = hbm.timing.page.value();
  if (part == 0) return;
  if (part < hbm.atom.value() || part > page || page % part != 0) {
    problems.push_back(
        {"hbm.controller.interleave",
         fmt::format("{} is no part of a row of {}", to_text(controller.interleave), to_text(hbm.timing.page)),
         "at least an atom, and a row a multiple of it"});
  }
}

}  // namespace

std::vector<ChipProblem> chip_problems(const Chip& chip) {
  std::vector<ChipProblem> problems;
  check_local_buffers(chip, problems);
  check_timing(chip.hbm, problems);
  check_controller(chip.hbm, problems);
  if (!output_tiles(chip.tensor.tiles)) {
    problems.push_back({"tensor_cores.tiles", fmt::format("'{}' is no list of tiles", chip.tensor.tiles),
                        "shapes m x n from 1 to 16384, such as 256x128 128x128"});
  }
  if (chip.dma.max_outstanding > Bytes(0) && chip.dma.max_outstanding < chip.hbm.atom) {
    problems.push_back({"dma.max_outstanding",
                        fmt::format("{} is less than one memory access of {}", to_text(chip.dma.max_outstanding),
                                    to_text(chip.hbm.atom)),
                        fmt::format("at least {}", to_text(chip.hbm.atom))});
  }
  return problems;
}

}  // namespace tandem
