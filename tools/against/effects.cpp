// SPDX-License-Identifier: Apache-2.0
#include "tools/against/effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "arch/support/error.h"

namespace tandem {
namespace {

constexpr double kUnlimited = 1e6;

void no_host(Plan& /*plan*/, Cluster& cluster) { cluster.issue_overhead = cluster.microbatch_overhead = Seconds(0); }
void no_call_overhead(Plan& /*plan*/, Cluster& cluster) { cluster.overhead = {}; }
void no_launch(Plan& /*plan*/, Cluster& cluster) {
  cluster.chip.launch.device_tensor = cluster.chip.launch.device_vector = Seconds(0);
}
void full_rate(Plan& /*plan*/, Cluster& cluster) { cluster.chip.tensor.sustained = cluster.chip.hbm.sustained = 1; }
void any_tile(Plan& /*plan*/, Cluster& cluster) {
  cluster.chip.tensor.tiles.clear();
  cluster.chip.tensor.task_overhead = Seconds(0);
}
void any_alignment(Plan& /*plan*/, Cluster& cluster) { cluster.chip.tensor.misaligned = 1; }
void no_sends_in_the_way(Plan& plan, Cluster& /*cluster*/) { plan.blocking_sends = false; }
void whole_sends(Plan& plan, Cluster& /*cluster*/) { plan.scattered_sends = false; }
void fast_links(Plan& /*plan*/, Cluster& cluster) {
  for (Level& level : cluster.levels) {
    level.link_bandwidth = level.link_bandwidth * kUnlimited;
    level.link_latency = Seconds(0);
  }
}
/// Every chip has links of its own out of the node.
void own_nics(Plan& /*plan*/, Cluster& cluster) {
  for (std::size_t i = 1; i < cluster.levels.size(); ++i) {
    cluster.levels[i].links = std::max(cluster.levels[i].links, cluster.devices_below(i));
  }
}
void overlapped_gradients(Plan& plan, Cluster& /*cluster*/) { plan.overlap_gradients = plan.zero_stage < 2; }

}  // namespace

const std::vector<ModelEffect>& model_effects() {
  static const std::vector<ModelEffect> effects{
      {"host", "the host launches as fast as the device works", no_host},
      {"call_overhead", "collectives and sends without overhead in software", no_call_overhead},
      {"launch", "operators start at once on the device", no_launch},
      {"sustained", "tensor cores and memory at their peak rates", full_rate},
      {"tiles", "any output tile, without overhead of its own", any_tile},
      {"alignment", "rows of any length at the full rate", any_alignment},
      {"blocking_sends", "sends between stages hold up nobody", no_sends_in_the_way},
      {"scattered_sends", "every tensor-parallel rank sends all activations", whole_sends},
      {"shared_nics", "every chip has links of its own out of its node", own_nics},
      {"links", "a network without limits", fast_links},
      {"exposed_gradients", "gradients are exchanged during the last backward", overlapped_gradients}};
  return effects;
}

void require_effects(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const ModelEffect& effect : model_effects()) known.push_back(effect.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw ConfigError(fmt::format("--without {}: expected one of {}", name, fmt::join(known, ", ")));
    }
  }
}

void switch_off(const std::vector<std::string>& names, Plan& plan, Cluster& cluster) {
  for (const ModelEffect& effect : model_effects()) {
    if (std::find(names.begin(), names.end(), effect.name) != names.end()) effect.switch_off(plan, cluster);
  }
}

}  // namespace tandem
