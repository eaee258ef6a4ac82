// SPDX-License-Identifier: Apache-2.0
#include "tools/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "arch/support/error.h"
#include "arch/support/hdf5.h"
#include "tools/files.h"
#include "tools/report/charts.h"
#include "tools/show/show.h"

namespace tandem {
namespace {

using nlohmann::json;

constexpr std::int64_t kLargestResult = std::int64_t{64} << 20;

std::optional<double> rate_of(const json& throughput) {
  if (throughput.is_null()) return std::nullopt;
  return throughput.at("tokens_per_second").get<double>();
}

ChartCandidate candidate_of(const std::string& label, const json& entry) {
  ChartCandidate candidate;
  candidate.label = label;
  candidate.detail = entry.at("plan_text").get<std::string>();
  candidate.area_mm2 = entry.at("chip").at("area_mm2").get<double>();
  candidate.predicted = rate_of(entry.at("predicted"));
  candidate.simulated = rate_of(entry.at("simulated"));
  if (entry.contains("simulated_time_by_cause_ps")) {
    for (const auto& [cause, picoseconds] : entry.at("simulated_time_by_cause_ps").items()) {
      candidate.seconds_by_cause[cause] = picoseconds.get<double>() * 1e-12;
    }
  }
  return candidate;
}

/// Every candidate of search.h5 that has a prediction.
std::vector<ChartCandidate> all_candidates(const std::filesystem::path& file) {
  const hdf5::Table table = hdf5::File::open(file).read_table("/candidates");
  std::vector<ChartCandidate> all;
  const auto real = [&](const char* column, std::size_t row) { return std::get<double>(table.column(column)[row]); };
  const auto whole = [&](const char* column, std::size_t row) {
    return std::get<std::int64_t>(table.column(column)[row]);
  };
  for (std::size_t row = 0; row < table.rows(); ++row) {
    ChartCandidate candidate;
    candidate.label = fmt::format("architecture {}", whole("architecture", row));
    candidate.detail = fmt::format("tp {}, pp {}, dp {}", whole("tp", row), whole("pp", row), whole("dp", row));
    candidate.area_mm2 = real("area", row);
    if (real("predicted_throughput", row) > 0) candidate.predicted = real("predicted_throughput", row);
    if (real("simulated_throughput", row) > 0) candidate.simulated = real("simulated_throughput", row);
    if (candidate.predicted || candidate.simulated) all.push_back(std::move(candidate));
  }
  return all;
}

std::string section(const std::string& title, const std::string& says, const std::string& picture) {
  return fmt::format("<section><h2>{}</h2><p>{}</p>{}</section>\n", title, says, picture);
}

std::string page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>\n"
      "body{{font-family:system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem;color:#222}}\n"
      "svg{{max-width:100%;height:auto}} pre{{overflow-x:auto;background:#f6f6f6;padding:1rem;font-size:12px}}\n"
      "p{{color:#555}} "
      "rect:hover,circle:hover{{opacity:.75}}\n</style></head><body>\n<h1>{0}</h1>\n{1}</body></html>\n",
      escaped(title), body);
}

/// The rest of the report stands without it: the winner's traced run may have failed or been stopped.
std::string timeline_section(const std::filesystem::path& trace) {
  const std::string title = "One iteration of the best plan";
  if (!std::filesystem::exists(trace)) return "";
  try {
    return section(title, "From best/trace.h5, one replica; all of it opens in ui.perfetto.dev after tandem export.",
                   timeline_chart(TraceFile(trace)).element());
  } catch (const ConfigError& error) {
    return section(title, escaped(error.what()), "");
  }
}

}  // namespace

void write_report(const std::filesystem::path& run_directory) {
  const json result = json::parse(read_file(run_directory / "result.json", kLargestResult));
  std::vector<ChartCandidate> ranked, baselines;
  for (const json& entry : result.at("ranking"))
    ranked.push_back(candidate_of(fmt::format("rank {}", ranked.size() + 1), entry));
  for (const auto& [name, entry] : result.at("baselines").items()) baselines.push_back(candidate_of(name, entry));
  std::vector<ChartCandidate> listed = ranked;
  listed.insert(listed.end(), baselines.begin(), baselines.end());

  const Svg pareto = pareto_chart(all_candidates(run_directory / "search.h5"), baselines);
  std::string body = fmt::format("<pre>{}</pre>\n", escaped(show_run(run_directory).text));
  body += section("Ranking", "Throughput of the best candidates and the baselines, predicted and simulated.",
                  ranking_chart(listed).element());
  body += section("Time by cause", "The simulated iteration along its critical path; the parts add up to it exactly.",
                  cause_chart(listed).element());
  body += section("Area against throughput", "Every candidate; lines join those that no other one beats in both.",
                  pareto.element());
  body += timeline_section(run_directory / "best" / "trace.h5");
  const std::string title = fmt::format("tandem: {} on {} chips", result.at("model").get<std::string>(),
                                        result.at("devices").get<std::int64_t>());
  write_file(run_directory / "report.html", page(title, body));
  write_file(run_directory / "report.svg", pareto.element());
}

}  // namespace tandem
