// SPDX-License-Identifier: Apache-2.0
// Flags over a plan: their spellings, and what follows from those that are not given.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>

#include "arch/support/config_tree.h"
#include "arch/support/error.h"
#include "tools/scenario.h"

namespace tandem {
namespace {

struct IntegerField {
  std::string_view flag;
  std::int64_t Plan::*member;
};

constexpr std::array<IntegerField, 8> kIntegers{{{"tp", &Plan::tp},
                                                 {"pp", &Plan::pp},
                                                 {"cp", &Plan::cp},
                                                 {"ep", &Plan::ep},
                                                 {"mbs", &Plan::microbatch},
                                                 {"gbs", &Plan::global_batch},
                                                 {"sequence", &Plan::sequence},
                                                 {"vpp", &Plan::virtual_stages}}};

/// One plan being put together, with what has been said about it.
class PlanEditor {
 public:
  PlanEditor(const Arguments& arguments, const Plan* base) : arguments_(arguments), from_file_(base != nullptr) {
    if (base != nullptr) plan_ = *base;
  }

  void replace_integers() {
    for (const IntegerField& field : kIntegers) {
      if (const auto value = arguments_.positive(field.flag)) set(field.flag, plan_.*field.member, *value);
    }
    if (const auto stage = arguments_.integer("zero")) {
      if (*stage < 0 || *stage > 3) throw ConfigError(fmt::format("--zero {}: a ZeRO stage is 0, 1, 2 or 3", *stage));
      set("zero", plan_.zero_stage, *stage);
    } else if (arguments_.has("use-distributed-optimizer")) {
      set("use-distributed-optimizer (ZeRO stage)", plan_.zero_stage, std::int64_t{1});
    }
  }

  void replace_choices() {
    replace_choice("recompute", plan_.recompute);
    replace_choice("schedule", plan_.schedule);
    replace_choice("optimizer", plan_.optimizer);
    replace_choice("dtype", plan_.dtype);
    replace_choice("attention", plan_.attention);
    if (arguments_.has("use-flash-attn")) plan_.attention = Attention::flash;
    if (arguments_.has("sequence-parallel")) plan_.sequence_parallel = true;
    if (arguments_.has("overlap-gradients")) plan_.overlap_gradients = true;
  }

  void derive_sequence(const TransformerModel& model) {
    if (plan_.sequence != 0) return;
    plan_.sequence = model.max_positions;
    notes_.push_back(fmt::format("--sequence is not given: {}, the model's longest", plan_.sequence));
  }

  void require_batch() const {
    if (plan_.global_batch == 0) throw ConfigError("--gbs is missing: the global batch, sequences per iteration");
  }

  void derive_virtual_stages(const TransformerModel& model) {
    if (const auto layers = arguments_.positive("num-layers-per-virtual-pipeline-stage")) {
      if (arguments_.has("vpp"))
        throw ConfigError("--vpp and --num-layers-per-virtual-pipeline-stage say the same; give one");
      const std::int64_t per_round = checked_product(*layers, plan_.pp);
      if (model.layers % per_round != 0) {
        throw ConfigError(
            fmt::format("--num-layers-per-virtual-pipeline-stage {}: {} layers are no multiple of {} x pp {}", *layers,
                        model.layers, *layers, plan_.pp));
      }
      set("num-layers-per-virtual-pipeline-stage (virtual stages)", plan_.virtual_stages, model.layers / per_round);
    }
    if (plan_.virtual_stages > 1 && plan_.schedule != PipelineSchedule::interleaved && !arguments_.has("schedule")) {
      plan_.schedule = PipelineSchedule::interleaved;
      notes_.push_back(fmt::format("{} virtual stages: schedule interleaved", plan_.virtual_stages));
    }
  }

  void derive_stages(const TransformerModel& model) {
    const std::int64_t stages = checked_product(plan_.pp, plan_.virtual_stages);
    if (const auto given = arguments_.text("stage-layers")) {
      plan_.stage_layers = parse_counts(*given);
      return;
    }
    if (static_cast<std::int64_t>(plan_.stage_layers.size()) == stages) return;
    if (stages > model.layers) {
      throw ConfigError(
          fmt::format("{} stages for {} layers: pp x vpp can be {} at most", stages, model.layers, model.layers));
    }
    plan_.stage_layers = even_stages(model.layers, stages);
    if (stages > 1) notes_.push_back(fmt::format("layers per stage: {}", fmt::join(plan_.stage_layers, ", ")));
  }

  void derive_data_parallel(std::int64_t devices) {
    if (const auto dp = arguments_.positive("dp")) {
      set("dp", plan_.dp, *dp);
      return;
    }
    const bool stated = from_file_ && plan_.dp > 0 && !arguments_.has("tp") && !arguments_.has("pp") &&
                        !arguments_.has("cp") && !arguments_.has("devices");
    if (stated) return;
    const std::int64_t per_replica = checked_product(plan_.tp, plan_.pp, plan_.cp);
    if (devices % per_replica != 0) {
      throw ConfigError(fmt::format(
          "tp {} x pp {} x cp {} = {} does not divide {} devices; give --dp or --devices (next: {})", plan_.tp,
          plan_.pp, plan_.cp, per_replica, devices, checked_product(ceil_div(devices, per_replica), per_replica)));
    }
    const std::int64_t dp = devices / per_replica;
    if (from_file_ && dp == plan_.dp) return;
    plan_.dp = dp;
    notes_.push_back(
        fmt::format("dp {}: {} devices / (tp {} x pp {} x cp {})", dp, devices, plan_.tp, plan_.pp, plan_.cp));
  }

  ResolvedPlan result() { return {std::move(plan_), std::move(notes_)}; }

 private:
  template <typename T>
  void set(std::string_view flag, T& field, T value) {
    if (from_file_ && field != value)
      notes_.push_back(fmt::format("--{}: {} replaces {} of the plan", flag, value, field));
    field = value;
  }

  template <typename E>
  void replace_choice(std::string_view flag, E& field) {
    const auto text = arguments_.text(flag);
    if (!text) return;
    const auto value = enum_from_name<E>(*text);
    if (!value) {
      std::vector<std::string> names;
      for (const auto& [candidate, name] : EnumNames<E>::values) names.emplace_back(name);
      throw ConfigError({Diagnostic{"", 0, 0, fmt::format("--{}", flag), fmt::format("'{}' is unknown", *text),
                                    fmt::format("one of {}", fmt::join(names, ", ")), nearest_name(*text, names)}});
    }
    if (from_file_ && field != *value) {
      notes_.push_back(fmt::format("--{}: {} replaces {} of the plan", flag, name_of(*value), name_of(field)));
    }
    field = *value;
  }

  static std::vector<std::int64_t> parse_counts(const std::string& text) {
    std::vector<std::int64_t> counts;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
      std::int64_t value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      if (error != std::errc() || value < 0 || (next != end && *next != ',')) {
        throw ConfigError(fmt::format("--stage-layers {}: expected layers of each stage such as 8,8,7,7", text));
      }
      counts.push_back(value);
      if (next == end) return counts;
      at = next + 1;
    }
  }

  const Arguments& arguments_;
  bool from_file_;
  Plan plan_;
  std::vector<std::string> notes_;
};

}  // namespace

FlagGroup plan_flags() {
  return {
      "Plan (replace what the plan file says)",
      {{"tp", 0, "N", "tensor parallel degree", false, {"tensor-model-parallel-size", "tensor-parallel-size"}},
       {"pp", 0, "N", "pipeline parallel degree", false, {"pipeline-model-parallel-size", "pipeline-parallel-size"}},
       {"dp", 0, "N", "data parallel degree (else: devices / (tp pp cp))", false, {"data-parallel-size"}},
       {"cp", 0, "N", "context parallel degree", false, {"context-parallel-size"}},
       {"ep", 0, "N", "expert parallel degree", false, {"expert-model-parallel-size", "expert-parallel-size"}},
       {"vpp", 0, "N", "virtual stages per device", false, {"virtual-pipeline-model-parallel-size"}},
       {"num-layers-per-virtual-pipeline-stage", 0, "N", "the same, said by layers", false, {}},
       {"stage-layers", 0, "N,N,...", "layers of each stage (else as even as can be)", false, {}},
       {"mbs", 0, "N", "microbatch, sequences", false, {"micro-batch-size", "microbatch"}},
       {"gbs", 0, "N", "global batch, sequences per iteration", false, {"global-batch-size", "global-batch"}},
       {"sequence", 0, "N", "tokens per sequence", false, {"seq-length", "seq"}},
       {"schedule", 0, "NAME", "gpipe, 1f1b or interleaved", false, {}},
       {"recompute", 0, "NAME", "none, selective or full", false, {"recompute-granularity"}},
       {"sequence-parallel", 0, "", "split norms and residuals along the sequence", false, {"sp"}},
       {"zero", 0, "N", "ZeRO stage, 0 to 3", false, {"zero-stage"}},
       {"use-distributed-optimizer", 0, "", "ZeRO stage 1", false, {}},
       {"optimizer", 0, "NAME", "adam or sgd", false, {}},
       {"dtype", 0, "NAME", "bf16, fp16, fp8, ...", false, {}},
       {"attention", 0, "NAME", "unfused or flash", false, {}},
       {"use-flash-attn", 0, "", "flash attention", false, {}},
       {"overlap-gradients", 0, "", "exchange gradients during backward", false, {"overlap-grad-reduce"}}}};
}

ResolvedPlan resolve_plan(const Arguments& arguments, const Plan* base, const TransformerModel& model,
                          std::int64_t devices) {
  PlanEditor editor(arguments, base);
  editor.replace_integers();
  editor.replace_choices();
  editor.derive_virtual_stages(model);
  editor.derive_stages(model);
  editor.derive_data_parallel(devices);
  editor.require_batch();
  editor.derive_sequence(model);
  return editor.result();
}

}  // namespace tandem
