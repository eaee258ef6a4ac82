// SPDX-License-Identifier: Apache-2.0
#include "search/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "arch/support/error.h"
#include "search/mapper.h"
#include "search/plan_json.h"
#include "search/predict.h"

namespace tandem {
namespace {

using nlohmann::json;

json task(const char* verb, std::int64_t architecture) { return {{"do", verb}, {"architecture", architecture}}; }

json task(const char* verb, std::int64_t architecture, const Plan& plan) {
  json object = task(verb, architecture);
  object["plan"] = plan_json(plan);
  return object;
}

Program mapped_program(const SearchConfig& config, const Cluster& cluster, const Plan& plan) {
  Program program = build_program(config.model, plan);
  check_memory(program, cluster.chip.hbm.capacity - cluster.reserved_memory);
  map_program(cluster.chip, program);
  return program;
}

}  // namespace

std::string place_task(std::int64_t architecture) { return task("place", architecture).dump(); }
std::string predict_task(std::int64_t architecture, const Plan& plan) {
  return task("predict", architecture, plan).dump();
}
std::string simulate_task(std::int64_t architecture, const Plan& plan) {
  return task("simulate", architecture, plan).dump();
}
std::string trace_task(std::int64_t architecture, const Plan& plan, const std::string& file) {
  json object = task("trace", architecture, plan);
  object["file"] = file;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

json evaluation_json(const Answer& answer) {
  json by_cause = json::object();
  for (const auto& [cause, name] : EnumNames<Cause>::values) {
    by_cause[std::string(name)] = answer.iteration.by_cause[cause].count();
  }
  return {{"time_ps", answer.iteration.time.count()},
          {"tokens_per_second", answer.iteration.tokens_per_second},
          {"mfu", answer.iteration.mfu},
          {"time_by_cause_ps", by_cause},
          {"assumptions", answer.assumptions}};
}

Evaluation evaluation_from_json(const json& object) {
  Evaluation evaluation;
  evaluation.throughput.time = Picoseconds(object.at("time_ps").get<std::int64_t>());
  object.at("tokens_per_second").get_to(evaluation.throughput.tokens_per_second);
  object.at("mfu").get_to(evaluation.throughput.mfu);
  for (const auto& [cause, name] : EnumNames<Cause>::values) {
    evaluation.by_cause[cause] = Picoseconds(object.at("time_by_cause_ps").at(std::string(name)).get<std::int64_t>());
  }
  object.at("assumptions").get_to(evaluation.assumptions);
  return evaluation;
}

json reply_json(const WorkerReply& reply) { return {{"outcome", name_of(reply.outcome)}, {"text", reply.text}}; }

WorkerReply reply_from_json(const json& object, const std::string& task) {
  try {
    const auto outcome = enum_from_name<WorkerReply::Outcome>(object.at("outcome").get<std::string>());
    WorkerReply reply{outcome.value(), object.at("text").get<std::string>()};
    if (reply.outcome != WorkerReply::Outcome::done) return reply;
    const json answer = json::parse(reply.text);
    if (json::parse(task).at("do") == "place") {
      placement_from_json(answer);
    } else {
      evaluation_from_json(answer);
    }
    return reply;
  } catch (const std::exception& error) {
    throw ConfigError(fmt::format("the journal's entry for {} cannot be read ({}); --force starts the search anew",
                                  task, error.what()));
  }
}

TaskRunner::TaskRunner(const SearchConfig& config, const std::vector<DesignPoint>& designs, Evaluator& evaluator)
    : config_(config), designs_(designs), evaluator_(evaluator), placer_(config.model, config.plans, config.cluster) {}

Cluster TaskRunner::cluster_of(std::int64_t architecture) const {
  if (architecture == kBaseline) return config_.baseline.value().cluster;
  Cluster cluster = config_.cluster;
  cluster.chip = designs_[position_of(designs_, architecture)].chip;
  return cluster;
}

PlacementResult TaskRunner::place_on(std::int64_t architecture) const {
  if (architecture == kBaseline) return place(cluster_of(kBaseline), config_.model, config_.plans);
  return placer_.place(designs_[position_of(designs_, architecture)].chip, config_.validate.plans_per_architecture);
}

std::string TaskRunner::run(const std::string& text) const {
  const json object = json::parse(text);
  const auto verb = object.at("do").get<std::string>();
  const auto architecture = object.at("architecture").get<std::int64_t>();
  if (verb == "place") return placement_json(place_on(architecture)).dump();
  const Cluster cluster = cluster_of(architecture);
  const Program program = mapped_program(config_, cluster, plan_from_json(object.at("plan")));
  const Answer answer = verb == "predict" ? predict(cluster, program)
                                          : evaluator_.evaluate(cluster, program, object.value("file", std::string()));
  return evaluation_json(answer).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::size_t position_of(const std::vector<DesignPoint>& designs, std::int64_t architecture) {
  const auto found = std::lower_bound(designs.begin(), designs.end(), architecture,
                                      [](const DesignPoint& point, std::int64_t index) { return point.index < index; });
  if (found == designs.end() || found->index != architecture) throw std::out_of_range("no such architecture");
  return static_cast<std::size_t>(found - designs.begin());
}

}  // namespace tandem
