// SPDX-License-Identifier: Apache-2.0
#include "arch/config.h"
#include "arch/config_io.h"
#include "arch/machine_checks.h"

namespace tandem {
namespace {

namespace checks = machine_checks;

template <typename TechnologyT, typename LeakageT, typename Visit>
void visit_fields(TechnologyT& technology, LeakageT& leakage_per_mm2, Visit&& visit) {
  visit("name", technology.name, any_value, Presence::required);
  visit("node", technology.node, checks::within(1e-10, 1e-5, "a length from 0.1 nm to 10 um"), Presence::required);
  visit("leakage_per_mm2", leakage_per_mm2, checks::watts, Presence::required);
  visit("area.mac", technology.mac, checks::area, Presence::required);
  visit("area.lane", technology.lane, checks::area, Presence::required);
  visit("area.local_sram", technology.local_sram, checks::area, Presence::required);
  visit("area.global_sram", technology.global_sram, checks::area, Presence::required);
  visit("area.noc_per_core", technology.noc_per_core, checks::area, Presence::required);
  visit("area.hbm_per_channel", technology.hbm_per_channel, checks::area, Presence::required);
  visit("area.link", technology.link, checks::area, Presence::required);
  visit("area.fixed", technology.fixed, checks::area, Presence::required);
  visit("energy.mac", technology.mac_energy, checks::energy, Presence::required);
  visit("energy.lane", technology.lane_energy, checks::energy, Presence::required);
  visit("energy.local_byte", technology.local_byte, checks::energy, Presence::required);
  visit("energy.global_byte", technology.global_byte, checks::energy, Presence::required);
  visit("energy.noc_byte", technology.noc_byte, checks::energy, Presence::required);
  visit("energy.hbm_byte", technology.hbm_byte, checks::energy, Presence::required);
  visit("energy.link_byte", technology.link_byte, checks::energy, Presence::required);
}

/// A bigger macro of the same kind is never smaller, and a macro of no bytes has no density.
void check_macros(const std::map<Bytes, Area>& macros, const ConfigSection& section, std::string_view key) {
  Area largest{};
  for (const auto& [capacity, area] : macros) {
    if (capacity <= Bytes(0)) {
      section.complain(key, fmt::format("has an entry of {}", to_text(capacity)), "capacities above 0 B");
    }
    if (area < largest) {
      section.complain(key, fmt::format("gives {} an area below that of a smaller macro", to_text(capacity)),
                       "areas that grow with capacity");
    }
    largest = area;
  }
}

Technology finish(ConfigFile& file) {
  Technology technology;
  Power leakage{};
  FieldReader reader(file.root(), {});
  visit_fields(technology, leakage, reader);
  technology.leakage_w_per_mm2 = leakage.value();
  check_macros(technology.local_sram, reader.section_of("area"), "local_sram");
  check_macros(technology.global_sram, reader.section_of("area"), "global_sram");
  file.finish();
  return technology;
}

}  // namespace

Technology load_technology(const std::filesystem::path& path) {
  ConfigFile file(path);
  return finish(file);
}

Technology load_technology_text(std::string_view text, const std::string& name) {
  ConfigFile file(parse_yaml(text, name), name);
  return finish(file);
}

std::string to_yaml(const Technology& technology) {
  FieldWriter writer;
  const Power leakage(technology.leakage_w_per_mm2);
  visit_fields(technology, leakage, writer);
  return writer.text();
}

}  // namespace tandem
