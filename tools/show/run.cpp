// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "arch/support/error.h"
#include "arch/support/hdf5.h"
#include "arch/support/units.h"
#include "search/search_config.h"
#include "tools/answer_json.h"
#include "tools/files.h"
#include "tools/show/show.h"
#include "tools/text_table.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLargestResult = std::int64_t{64} << 20;

[[noreturn]] void damaged(const std::filesystem::path& file, const std::string& why) {
  throw ConfigError({Diagnostic{file.string(), 0, 0, "", "is no result of a search: " + why, "", ""}});
}

std::string rate_text(const Json& throughput) {
  if (throughput.is_null()) return "-";
  return fmt::format("{:.6g}", throughput.at("tokens_per_second").get<double>());
}

std::string time_text(const Json& throughput) {
  return throughput.is_null() ? "-" : to_text(Picoseconds(throughput.at("time_ps").get<std::int64_t>()));
}

std::string chip_text(const Json& chip) {
  return fmt::format("{} x {}x{}x{}, {} x {}, {}", chip.at("tensor_cores").get<std::int64_t>(),
                     chip.at("arrays").get<std::int64_t>(), chip.at("rows").get<std::int64_t>(),
                     chip.at("cols").get<std::int64_t>(), chip.at("vector_cores").get<std::int64_t>(),
                     chip.at("lanes").get<std::int64_t>(),
                     to_text(Bytes(chip.at("global_buffer_bytes").get<std::int64_t>())));
}

std::vector<std::string> candidate_row(const std::string& label, const Json& candidate) {
  return {label,
          chip_text(candidate.at("chip")),
          fmt::format("{:.0f}", candidate.at("chip").at("area_mm2").get<double>()),
          candidate.at("plan_text").get<std::string>(),
          rate_text(candidate.at("predicted")),
          rate_text(candidate.at("simulated")),
          time_text(candidate.at("simulated"))};
}

std::string ranking_table(const Json& result) {
  TextTable table({"rank", "tensor cores, vector lanes, buffer", "mm2", "plan", "predicted", "simulated", "iteration"});
  std::size_t rank = 0;
  for (const Json& candidate : result.at("ranking")) table.add(candidate_row(std::to_string(++rank), candidate));
  for (const auto& [name, baseline] : result.at("baselines").items()) table.add(candidate_row(name, baseline));
  return table.text();
}

std::string ratios_text(const Json& result) {
  std::string text;
  for (const auto& [name, baseline] : result.at("baselines").items()) {
    if (!baseline.contains("best_over_this")) continue;
    const Json& ratio = baseline.at("best_over_this");
    const Json& simulated = ratio.at("simulated_throughput");
    text += fmt::format("best over {}: {} simulated throughput at {:.3g} times the area\n", name,
                        simulated.is_null() ? "n/a" : fmt::format("{:.3f} times the", simulated.get<double>()),
                        ratio.at("area").get<double>());
  }
  return text;
}

std::string counts_text(const Json& result) {
  const Json& counts = result.at("counts");
  const Json& designs = counts.at("architectures");
  const auto number = [&](const char* key) { return designs.at(key).get<std::int64_t>(); };
  std::string text =
      fmt::format("architectures: {} enumerated, {} over the area limit, {} under it, {} over the power limit\n",
                  number("enumerated"), number("over_area"), number("under_area"), number("over_power"));
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts.at("candidates").items()) {
    if (count.get<std::int64_t>() > 0) parts.push_back(fmt::format("{} {}", count.get<std::int64_t>(), status));
  }
  text += fmt::format("candidates: {}\n", fmt::join(parts, ", "));
  const Json& margin = result.at("margin");
  text += fmt::format("simulations stopped: {} ({})\n", margin.at("stopped_because").get<std::string>(),
                      margin.at("kind").get<std::string>());
  if (!result.at("kendall_tau").is_null()) {
    text += fmt::format("rank correlation of prediction and simulation (Kendall tau): {:.3f}\n",
                        result.at("kendall_tau").get<double>());
  }
  return text;
}

std::string result_text(const std::filesystem::path& directory, const Json& result) {
  std::string text = fmt::format("run {} ({}): {} on {} x {}\n\n", result.at("name").get<std::string>(),
                                 result.at("status").get<std::string>(), result.at("model").get<std::string>(),
                                 result.at("devices").get<std::int64_t>(), result.at("cluster").get<std::string>());
  text += ranking_table(result) + "  (throughput in tokens/s)\n\n" + ratios_text(result) + counts_text(result);
  if (!result.at("nearest_miss").is_null())
    text += "nearest miss: " + result.at("nearest_miss").get<std::string>() + "\n";
  text += "\nfiles\n";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) text += "  " + file + "\n";
  return text;
}

}  // namespace

Shown show_run(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / "result.json";
  if (!std::filesystem::exists(file)) {
    throw ConfigError(
        {Diagnostic{file.string(), 0, 0, "", "is not there yet: the search was stopped before it had a result",
                    "tandem search ... --resume", ""}});
  }
  const std::string text = read_file(file, kLargestResult);
  try {
    const Json result = Json::parse(text);
    return {result_text(directory, result), text_of(result)};
  } catch (const nlohmann::json::exception& error) {
    damaged(file, error.what());
  }
}

Shown show_search(const std::filesystem::path& file) {
  const SearchConfig config = load_search_config(file);
  std::string text = fmt::format("search {}: {} on {} x {} ({})\n\n", config.name, config.model.name,
                                 config.cluster.devices(), config.space.base.name, config.cluster.name);
  TextTable axes({"varied field", "values"});
  Json json{
      {"kind", "search"}, {"name", config.name}, {"architectures", config.space.size()}, {"axes", Json::object()}};
  for (const DesignAxis& axis : config.space.axes) {
    axes.add({axis.path, fmt::format("{}", fmt::join(axis.values, ", "))});
    json["axes"][axis.path] = axis.values;
  }
  text += axes.text() + fmt::format("\n{} architectures before limits", config.space.size());
  if (config.space.max_area) text += fmt::format(", at most {}", to_text(*config.space.max_area));
  if (config.space.max_power) text += fmt::format(", at most {}", to_text(*config.space.max_power));
  text += fmt::format("\nthe best {} candidates are simulated; {}\n", config.validate.top,
                      config.baseline ? "compared with a baseline" : "no baseline");
  return {text, text_of(json)};
}

Shown show_candidates(const std::filesystem::path& path) {
  const hdf5::File file = hdf5::File::open(path);
  const hdf5::Table table = file.read_table("/candidates");
  constexpr std::size_t kShown = 20;
  const std::vector<std::string> wanted{
      "rank", "architecture", "area", "tp", "pp", "dp", "microbatch", "predicted_throughput", "simulated_throughput"};
  std::vector<std::string> header;
  for (const std::string& name : wanted) {
    const auto known = [&](const hdf5::Column& column) { return column.name == name; };
    if (std::any_of(table.columns.begin(), table.columns.end(), known)) header.push_back(name);
  }
  if (header.empty() || header.front() != "rank") damaged(path, "/candidates has no ranks");
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto* rank = std::get_if<std::int64_t>(&table.column("rank")[row]);
    if (rank != nullptr && *rank > 0) order.emplace_back(*rank, row);
  }
  std::sort(order.begin(), order.end());
  TextTable shown(header);
  for (std::size_t i = 0; i < std::min(order.size(), kShown); ++i) {
    std::vector<std::string> cells;
    for (const std::string& name : header) {
      const hdf5::Cell& cell = table.column(name)[order[i].second];
      const auto* number = std::get_if<double>(&cell);
      cells.push_back(number != nullptr ? fmt::format("{:.6g}", *number)
                                        : std::to_string(std::get<std::int64_t>(cell)));
    }
    shown.add(std::move(cells));
  }
  const Json json{{"kind", "candidates"}, {"rows", table.rows()}, {"ranked", order.size()}};
  return {fmt::format("{} candidates, {} ranked\n\n", table.rows(), order.size()) + shown.text(), text_of(json)};
}

}  // namespace tandem
