// SPDX-License-Identifier: Apache-2.0
#include "tools/operator_energy.h"

#include <nlohmann/json.hpp>

#include <optional>

#include "arch/area.h"
#include "arch/config.h"
#include "arch/support/error.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ChipEnergy& energy) {
  constexpr double kPicojoule = 1e-12;
  Json json = Json::object();
  const std::pair<const char*, Energy> parts[] = {{"tensor_cores", energy.tensor_cores},
                                                  {"vector_cores", energy.vector_cores},
                                                  {"local_buffers", energy.local_buffers},
                                                  {"global_buffer", energy.global_buffer},
                                                  {"noc", energy.noc},
                                                  {"hbm", energy.hbm},
                                                  {"leakage", energy.leakage},
                                                  {"total", energy.total()}};
  for (const auto& [name, part] : parts) json[name] = part.value() * kPicojoule;
  return json;
}

std::optional<Technology> technology_of(const Chip& chip) {
  if (chip.technology.empty()) return std::nullopt;
  try {
    return load_technology(find_config("technology", chip.technology));
  } catch (const ConfigError&) {
    return std::nullopt;  // energy is an extra: a name that cannot be read is `show chip`'s to complain about
  }
}

}  // namespace

void add_energy(Json& json, const Answer& answer, const Scenario& scenario) {
  const Chip& chip = scenario.cluster.chip;
  const std::optional<Technology> technology = technology_of(chip);
  const DataType dtype = scenario.plan.dtype;
  if (!technology || !technology->mac_energy.contains(dtype)) return;
  const Area area = estimate_area(chip, *technology).total();
  Json& operators = json["operators"];
  for (std::size_t i = 0; i < answer.operators.size(); ++i) {
    const OperatorAnswer& op = answer.operators[i];
    operators[i]["energy_j"] = to_json(estimate_energy(op.accesses, dtype, *technology, area, to_seconds(op.time)));
  }
}

}  // namespace tandem
