// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "arch/area.h"
#include "arch/config.h"
#include "arch/support/error.h"
#include "arch/support/units.h"
#include "tools/answer_json.h"
#include "tools/show/show.h"
#include "tools/text_table.h"
#include "workloads/collectives.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

/// The technology a chip names, or why it cannot be read.
struct FoundTechnology {
  std::optional<Technology> technology;
  std::string problem;
};

FoundTechnology technology_of(const Chip& chip) {
  if (chip.technology.empty()) return {std::nullopt, "the chip names no technology"};
  try {
    return {load_technology(find_config("technology", chip.technology)), ""};
  } catch (const ConfigError& error) {
    return {std::nullopt, error.what()};
  }
}

std::string compute_text(const Chip& chip) {
  const TensorCores& tensor = chip.tensor;
  const VectorCores& vector = chip.vector;
  std::string text = fmt::format("clock           {}\n", to_text(chip.clock));
  text +=
      fmt::format("tensor cores    {} x {}, {} stationary{}, local buffer {} each\n", tensor.count,
                  tensor.arrays == 1 ? fmt::format("{}x{} MACs", tensor.rows, tensor.cols)
                                     : fmt::format("{} arrays of {}x{} MACs", tensor.arrays, tensor.rows, tensor.cols),
                  std::string(name_of(tensor.dataflow)).substr(0, name_of(tensor.dataflow).find('_')),
                  tensor.accumulators ? "" : ", no accumulators", to_text(tensor.local_buffer));
  text += fmt::format("vector cores    {} x {} lanes, {} in multiply-adds, local buffer {} each\n", vector.count,
                      vector.lanes, to_text(chip.vector_peak()), to_text(vector.local_buffer));
  TextTable peaks({"type", "dense peak", "ridge point"});
  for (const auto& [type, rate] : tensor.macs_per_pe) {
    peaks.add(
        {std::string(name_of(type)), to_text(chip.peak(type)), fmt::format("{:.4g} FLOP/B", chip.ridge_point(type))});
  }
  return text + peaks.text();
}

std::string memory_text(const Chip& chip) {
  const Hbm& hbm = chip.hbm;
  std::string text = fmt::format("global buffer   {}, {} banks, {} each direction\n", to_text(chip.glb.capacity),
                                 chip.glb.banks, to_text(chip.glb.bandwidth));
  const std::int64_t ports = chip.tensor.count + chip.vector.count;
  text += fmt::format("NoC             {} per port, {} at {} ports, {}{}\n", to_text(chip.noc.port_bandwidth),
                      to_text(chip.noc.port_bandwidth * ports), ports, to_text(chip.noc.latency),
                      chip.noc.multicast ? ", multicast" : "");
  text += fmt::format("DMA             {} engines, {} set-up, {} in flight each\n", chip.dma.engines,
                      to_text(chip.dma.setup), to_text(chip.dma.max_outstanding));
  text += fmt::format("HBM             {}, {} at {}: {} stacks x {} channels of {}, {} an access\n", hbm.generation,
                      to_text(hbm.capacity), to_text(hbm.bandwidth), hbm.stacks, hbm.channels_per_stack,
                      to_text(hbm.channel_bandwidth()), to_text(hbm.atom));
  text += fmt::format("launch          {} on tensor cores, {} on vector cores\n", to_text(chip.launch.device_tensor),
                      to_text(chip.launch.device_vector));
  return text;
}

using AreaPart = std::pair<const char*, Area>;
std::array<AreaPart, 8> parts_of(const ChipArea& area) {
  return {{{"tensor cores", area.tensor_cores},
           {"vector cores", area.vector_cores},
           {"local buffers", area.local_buffers},
           {"global buffer", area.global_buffer},
           {"NoC", area.noc},
           {"HBM", area.hbm},
           {"links", area.links},
           {"other", area.other}}};
}

std::string area_text(const Chip& chip, const FoundTechnology& found) {
  if (!found.technology) return fmt::format("area            not known: {}\n", found.problem);
  const ChipArea area = estimate_area(chip, *found.technology);
  std::string text =
      fmt::format("area            {} in {} (estimate)\n", to_text(area.total()), found.technology->name);
  TextTable table({"component", "area", "share"});
  for (const auto& [name, part] : parts_of(area)) {
    if (part.value() > 0) table.add({name, to_text(part), percent(part / area.total())});
  }
  text += table.text();
  if (!chip.tensor.macs_per_pe.empty()) {
    const DataType type = chip.supports(DataType::bf16) ? DataType::bf16 : chip.tensor.macs_per_pe.begin()->first;
    text += fmt::format("power           {} at full {} rate (estimate)",
                        to_text(estimate_peak_power(chip, *found.technology, type)), name_of(type));
    text += chip.tdp.value() > 0 ? fmt::format(", TDP {}\n", to_text(chip.tdp)) : "\n";
  }
  return text;
}

Json chip_json(const Chip& chip) {
  Json json{{"kind", "chip"}, {"name", chip.name}, {"clock_hz", chip.clock.value()}};
  for (const auto& [type, rate] : chip.tensor.macs_per_pe) {
    json["peak_flops_per_second"][std::string(name_of(type))] = chip.peak(type).value();
    json["ridge_point_flops_per_byte"][std::string(name_of(type))] = chip.ridge_point(type);
  }
  json["vector_flops_per_second"] = chip.vector_peak().value();
  json["global_buffer_bytes"] = chip.glb.capacity.value();
  json["global_buffer_bytes_per_second"] = chip.glb.bandwidth.value();
  json["noc_port_bytes_per_second"] = chip.noc.port_bandwidth.value();
  json["hbm_bytes"] = chip.hbm.capacity.value();
  json["hbm_bytes_per_second"] = chip.hbm.bandwidth.value();
  json["hbm_channels"] = chip.hbm.channels();
  json["tdp_w"] = chip.tdp.value();
  const FoundTechnology found = technology_of(chip);
  if (found.technology) {
    constexpr double kSquareMicrometresPerSquareMillimetre = 1e6;
    const ChipArea area = estimate_area(chip, *found.technology);
    for (const auto& [name, part] : parts_of(area)) {
      json["area_mm2"][name] = part.value() / kSquareMicrometresPerSquareMillimetre;
    }
    json["area_mm2"]["total"] = area.total().value() / kSquareMicrometresPerSquareMillimetre;
  }
  return json;
}

std::string level_table(const Cluster& cluster) {
  TextTable table({"level", "kind", "members", "links", "per member", "one message", "hop"});
  for (const Level& level : cluster.levels) {
    table.add({level.name, std::string(name_of(level.kind)), fmt::format("{}", fmt::join(level.dims, "x")),
               fmt::format("{} x {}", level.links, to_text(level.link_bandwidth)), to_text(level.member_bandwidth()),
               to_text(level.message_bandwidth()), to_text(level.link_latency)});
  }
  return table.text();
}

/// Closed-form all-reduce over all devices, to give a feeling for the network.
std::string all_reduce_table(const Cluster& cluster) {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(cluster.devices()));
  std::iota(ranks.begin(), ranks.end(), std::int64_t{0});
  TextTable table({"all-reduce of", "time", "algbw", "busbw", "algorithm"});
  constexpr std::array<std::int64_t, 4> kSizes{1 << 10, 1 << 20, 1 << 26, 1 << 30};
  for (const std::int64_t bytes : kSizes) {
    const Collective collective{CollectiveKind::all_reduce, Bytes(bytes), CollectiveAlgorithm::automatic};
    const Seconds time = collective_time(collective, cluster, ranks);
    if (!(time.count() > 0)) continue;
    const Bandwidth algorithm = Bytes(bytes) / time;
    const double n = static_cast<double>(ranks.size());
    table.add({to_text(Bytes(bytes)), to_text(time), to_text(algorithm), to_text(algorithm * (2 * (n - 1) / n)),
               std::string(name_of(choose_algorithm(collective, cluster, ranks)))});
  }
  return table.empty()
             ? ""
             : "\n" + table.text() + "  algbw: bytes / time; busbw: times 2 (n-1)/n, what a link must carry\n";
}

}  // namespace

Shown show_chip(const Chip& chip) {
  const std::string text = fmt::format("chip {}\n\n", chip.name) + compute_text(chip) + memory_text(chip) +
                           area_text(chip, technology_of(chip));
  return {text, text_of(chip_json(chip))};
}

Shown show_cluster(const Cluster& cluster) {
  std::string text = fmt::format("cluster {}: {} x {}\n\n", cluster.name, cluster.devices(), cluster.chip.name);
  text += level_table(cluster);
  text +=
      fmt::format("\nsoftware  {} a collective, {} a step, {} a send, {} an iteration; {} of memory reserved\n",
                  to_text(cluster.overhead.collective), to_text(cluster.overhead.step), to_text(cluster.overhead.send),
                  to_text(cluster.iteration_overhead), to_text(cluster.reserved_memory));
  text += all_reduce_table(cluster);
  text += "\n" + show_chip(cluster.chip).text;
  Json json{{"kind", "cluster"}, {"name", cluster.name}, {"devices", cluster.devices()}, {"levels", Json::array()}};
  for (const Level& level : cluster.levels) {
    json["levels"].push_back({{"name", level.name},
                              {"kind", name_of(level.kind)},
                              {"dims", level.dims},
                              {"member_bytes_per_second", level.member_bandwidth().value()},
                              {"message_bytes_per_second", level.message_bandwidth().value()},
                              {"link_latency_s", level.link_latency.count()}});
  }
  json["chip"] = chip_json(cluster.chip);
  return {text, text_of(json)};
}

Shown show_technology(const Technology& technology) {
  std::string text = fmt::format("technology {}, {}\n\n", technology.name, to_text(technology.node));
  TextTable area({"area of", ""});
  area.add({"one MAC unit", to_text(technology.mac)});
  area.add({"one vector lane", to_text(technology.lane)});
  area.add({"NoC port", to_text(technology.noc_per_core)});
  area.add({"HBM channel", to_text(technology.hbm_per_channel)});
  area.add({"chip-to-chip link", to_text(technology.link)});
  area.add({"the rest of a chip", to_text(technology.fixed)});
  TextTable energy({"energy of", ""});
  for (const auto& [type, cost] : technology.mac_energy)
    energy.add({fmt::format("one {} MAC", name_of(type)), to_text(cost)});
  energy.add({"one vector operation", to_text(technology.lane_energy)});
  energy.add({"a byte of a local buffer", to_text(technology.local_byte)});
  energy.add({"a byte of the global buffer", to_text(technology.global_byte)});
  energy.add({"a byte over the NoC", to_text(technology.noc_byte)});
  energy.add({"a byte of HBM", to_text(technology.hbm_byte)});
  energy.add({"a byte over a link", to_text(technology.link_byte)});
  text += area.text() + "\n" + energy.text();
  text += fmt::format("\nSRAM macros: {} local, {} global sizes; leakage {} W/mm2\n", technology.local_sram.size(),
                      technology.global_sram.size(), technology.leakage_w_per_mm2);
  const Json json{{"kind", "technology"}, {"name", technology.name}, {"node_m", technology.node.value()}};
  return {text, text_of(json)};
}

}  // namespace tandem
