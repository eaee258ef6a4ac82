// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "arch/support/config_reader.h"
#include "workloads/plan.h"

namespace tandem {
namespace {

constexpr double kLargest = 1e9;
/// Of one degree: the product of all four fits 63 bits.
constexpr double kMostDevices = 32768;

std::int64_t degree(const ConfigSection& in, std::string_view key) {
  return in.get_or<std::int64_t>(key, 1, between(1, kMostDevices));
}

Plan read_plan(ConfigFile& file) {
  const ConfigSection in = file.root();
  Plan plan;
  plan.tp = degree(in, "tp");
  plan.pp = degree(in, "pp");
  plan.dp = degree(in, "dp");
  plan.cp = degree(in, "cp");
  plan.ep = degree(in, "ep");
  plan.sequence_parallel = in.get_or("sequence_parallel", plan.sequence_parallel);
  plan.global_batch = in.get<std::int64_t>("global_batch", between(1, kLargest));
  plan.microbatch = in.get_or("microbatch", plan.microbatch, between(1, kLargest));
  plan.sequence = in.get_or("sequence", plan.sequence, between(1, kLargest));
  if (in.has("stage_layers")) plan.stage_layers = in.list<std::int64_t>("stage_layers", between(0, kLargest));
  plan.schedule = in.get_or("schedule", plan.schedule);
  plan.virtual_stages = degree(in, "virtual_stages");
  plan.recompute = in.get_or("recompute", plan.recompute);
  plan.optimizer = in.get_or("optimizer", plan.optimizer);
  plan.zero_stage = in.get_or("zero_stage", plan.zero_stage, between(0, 3));
  plan.dtype = in.get_or("dtype", plan.dtype);
  plan.fp32_gradients = in.get_or("fp32_gradients", plan.fp32_gradients);
  plan.attention = in.get_or("attention", plan.attention);
  plan.fused_softmax = in.get_or("fused_softmax", plan.fused_softmax);
  plan.overlap_gradients = in.get_or("overlap_gradients", plan.overlap_gradients);
  plan.blocking_sends = in.get_or("blocking_sends", plan.blocking_sends);
  plan.scattered_sends = in.get_or("scattered_sends", plan.scattered_sends);
  plan.fusion = in.get_or("fusion", plan.fusion);
  file.finish();
  return plan;
}

}  // namespace

Plan load_plan(const std::filesystem::path& path) {
  ConfigFile file(path);
  return read_plan(file);
}

Plan parse_plan(std::string_view text, const std::string& name) {
  ConfigFile file(parse_yaml(text, name), name);
  return read_plan(file);
}

std::string to_yaml(const Plan& plan) {
  std::string text;
  const auto line = [&text](std::string_view key, const auto& value) { text += fmt::format("{}: {}\n", key, value); };
  line("tp", plan.tp);
  line("pp", plan.pp);
  line("dp", plan.dp);
  line("cp", plan.cp);
  line("ep", plan.ep);
  line("sequence_parallel", plan.sequence_parallel);
  line("global_batch", plan.global_batch);
  line("microbatch", plan.microbatch);
  if (plan.sequence > 0) line("sequence", plan.sequence);
  if (!plan.stage_layers.empty()) line("stage_layers", fmt::format("[{}]", fmt::join(plan.stage_layers, ", ")));
  line("schedule", name_of(plan.schedule));
  line("virtual_stages", plan.virtual_stages);
  line("recompute", name_of(plan.recompute));
  line("optimizer", name_of(plan.optimizer));
  line("zero_stage", plan.zero_stage);
  line("dtype", name_of(plan.dtype));
  line("fp32_gradients", plan.fp32_gradients);
  line("attention", name_of(plan.attention));
  line("fused_softmax", plan.fused_softmax);
  line("overlap_gradients", plan.overlap_gradients);
  line("blocking_sends", plan.blocking_sends);
  line("scattered_sends", plan.scattered_sends);
  line("fusion", name_of(plan.fusion));
  return text;
}

}  // namespace tandem
