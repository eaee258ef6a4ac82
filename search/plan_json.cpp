// SPDX-License-Identifier: Apache-2.0
#include "search/plan_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace tandem {
namespace {

using nlohmann::json;

template <typename E>
E enum_at(const json& object, const char* key) {
  const auto text = object.at(key).get<std::string>();
  const auto value = enum_from_name<E>(text);
  if (!value) throw std::runtime_error(fmt::format("{} has the unknown value {}", key, text));
  return *value;
}

}  // namespace

nlohmann::ordered_json plan_json(const Plan& plan) {
  return {{"tp", plan.tp},
          {"pp", plan.pp},
          {"dp", plan.dp},
          {"cp", plan.cp},
          {"ep", plan.ep},
          {"sequence_parallel", plan.sequence_parallel},
          {"global_batch", plan.global_batch},
          {"microbatch", plan.microbatch},
          {"sequence", plan.sequence},
          {"stage_layers", plan.stage_layers},
          {"schedule", name_of(plan.schedule)},
          {"virtual_stages", plan.virtual_stages},
          {"recompute", name_of(plan.recompute)},
          {"optimizer", name_of(plan.optimizer)},
          {"zero_stage", plan.zero_stage},
          {"dtype", name_of(plan.dtype)},
          {"fp32_gradients", plan.fp32_gradients},
          {"attention", name_of(plan.attention)},
          {"fused_softmax", plan.fused_softmax},
          {"overlap_gradients", plan.overlap_gradients},
          {"blocking_sends", plan.blocking_sends},
          {"scattered_sends", plan.scattered_sends},
          {"fusion", name_of(plan.fusion)}};
}

Plan plan_from_json(const json& object) {
  Plan plan;
  object.at("tp").get_to(plan.tp);
  object.at("pp").get_to(plan.pp);
  object.at("dp").get_to(plan.dp);
  object.at("cp").get_to(plan.cp);
  object.at("ep").get_to(plan.ep);
  object.at("sequence_parallel").get_to(plan.sequence_parallel);
  object.at("global_batch").get_to(plan.global_batch);
  object.at("microbatch").get_to(plan.microbatch);
  object.at("sequence").get_to(plan.sequence);
  object.at("stage_layers").get_to(plan.stage_layers);
  plan.schedule = enum_at<PipelineSchedule>(object, "schedule");
  object.at("virtual_stages").get_to(plan.virtual_stages);
  plan.recompute = enum_at<Recompute>(object, "recompute");
  plan.optimizer = enum_at<Optimizer>(object, "optimizer");
  object.at("zero_stage").get_to(plan.zero_stage);
  plan.dtype = enum_at<DataType>(object, "dtype");
  object.at("fp32_gradients").get_to(plan.fp32_gradients);
  plan.attention = enum_at<Attention>(object, "attention");
  object.at("fused_softmax").get_to(plan.fused_softmax);
  object.at("overlap_gradients").get_to(plan.overlap_gradients);
  object.at("blocking_sends").get_to(plan.blocking_sends);
  object.at("scattered_sends").get_to(plan.scattered_sends);
  plan.fusion = enum_at<Fusion>(object, "fusion");
  return plan;
}

json placement_json(const PlacementResult& result) {
  json best = json::array();
  for (const Placement& placement : result.best) {
    best.push_back({{"plan", plan_json(placement.plan)},
                    {"time_ps", placement.time.count()},
                    {"tokens_per_second", placement.tokens_per_second},
                    {"mfu", placement.mfu}});
  }
  json object{{"best", best},
              {"enumerated", result.counts.enumerated},
              {"predicted", result.counts.predicted},
              {"bounded", result.counts.bounded},
              {"rejected", result.counts.rejected},
              {"unproven", result.unproven}};
  if (result.nearest_miss) {
    object["nearest_miss"] = {{"needed_bytes", result.nearest_miss->needed.value()},
                              {"capacity_bytes", result.nearest_miss->capacity.value()},
                              {"text", result.nearest_miss->text}};
  }
  return object;
}

PlacementResult placement_from_json(const json& object) {
  PlacementResult result;
  for (const json& entry : object.at("best")) {
    Placement placement;
    placement.plan = plan_from_json(entry.at("plan"));
    placement.time = Picoseconds(entry.at("time_ps").get<std::int64_t>());
    entry.at("tokens_per_second").get_to(placement.tokens_per_second);
    entry.at("mfu").get_to(placement.mfu);
    result.best.push_back(placement);
  }
  object.at("enumerated").get_to(result.counts.enumerated);
  object.at("predicted").get_to(result.counts.predicted);
  object.at("bounded").get_to(result.counts.bounded);
  object.at("rejected").get_to(result.counts.rejected);
  object.at("unproven").get_to(result.unproven);
  if (object.contains("nearest_miss")) {
    const json& miss = object["nearest_miss"];
    result.nearest_miss =
        NearestMiss{Bytes(miss.at("needed_bytes").get<std::int64_t>()),
                    Bytes(miss.at("capacity_bytes").get<std::int64_t>()), miss.at("text").get<std::string>()};
  }
  return result;
}

std::string describe(const Plan& plan) {
  std::string text = fmt::format("tp {}, pp {}, dp {}, microbatch {}, recompute {}", plan.tp, plan.pp, plan.dp,
                                 plan.microbatch, name_of(plan.recompute));
  if (plan.cp > 1) text += fmt::format(", cp {}", plan.cp);
  if (plan.ep > 1) text += fmt::format(", ep {}", plan.ep);
  if (plan.sequence_parallel) text += ", sequence parallel";
  if (plan.attention == Attention::flash) text += ", flash attention";
  if (plan.zero_stage > 0) text += fmt::format(", ZeRO {}", plan.zero_stage);
  if (!plan.fused_softmax) text += ", softmax by parts";
  if (plan.overlap_gradients) text += ", overlapped gradients";
  if (plan.blocking_sends) text += ", blocking sends";
  if (plan.scattered_sends) text += ", scattered sends";
  if (plan.pp > 1) text += fmt::format(", {}", name_of(plan.schedule));
  if (!plan.stage_layers.empty() && plan.stage_layers.size() > 1) {
    text += fmt::format(", stages {}", fmt::join(plan.stage_layers, " "));
  }
  return text;
}

}  // namespace tandem
