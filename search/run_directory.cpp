// SPDX-License-Identifier: Apache-2.0
#include "search/run_directory.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <system_error>

#include "arch/config.h"
#include "arch/support/error.h"
#include "arch/support/hash.h"
#include "search/plan_json.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// Every file that a run may leave.
constexpr std::array kFiles{"journal.jsonl",
                            "result.json",
                            "search.h5",
                            "config.resolved.yaml",
                            "config/model.json",
                            "config/cluster.yaml",
                            "config/technology.yaml",
                            "config/baseline.cluster.yaml",
                            "config/baseline.plan.yaml",
                            "best/chip.yaml",
                            "best/cluster.yaml",
                            "best/model.json",
                            "best/plan.yaml",
                            "best/trace.h5",
                            "report.html",
                            "report.svg"};

void write_file(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  fs::path draft = path;
  draft += ".part";
  {
    std::ofstream stream(draft, std::ios::binary | std::ios::trunc);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.flush();
    if (!stream) throw std::runtime_error(fmt::format("{}: cannot be written", draft.string()));
  }
  fs::rename(draft, path);
}

void prepare(const fs::path& folder, ExistingRun existing) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw ConfigError(fmt::format("{} is a file, not a folder for a run", folder.string()));
  }
  const bool empty = !fs::exists(folder, error) || fs::is_empty(folder, error);
  if (!empty && existing == ExistingRun::refuse) {
    throw ConfigError(
        fmt::format("{} is not empty; expected a new folder (--resume goes on with the run in it, --force "
                    "starts it anew)",
                    folder.string()));
  }
  fs::create_directories(folder, error);
  if (error) throw ConfigError(fmt::format("{} cannot be made: {}", folder.string(), error.message()));
  if (existing != ExistingRun::overwrite) return;
  for (const char* name : kFiles) fs::remove(folder / name);
}

JournalContents earlier_journal(const fs::path& file, ExistingRun existing, const std::string& config_hash) {
  if (existing != ExistingRun::resume || !fs::exists(file)) return {};
  JournalContents contents = read_journal(file);
  if (contents.config_hash != config_hash) {
    throw ConfigError(
        fmt::format("{} belongs to a search with other inputs (fingerprint {}, these have {}): its results "
                    "cannot be taken over; choose another folder, or --force to start anew",
                    file.string(), contents.config_hash, config_hash));
  }
  return contents;
}

Journal open_journal(const fs::path& file, const JournalContents& earlier, const std::string& config_hash) {
  return earlier.complete_bytes > 0 ? Journal::resume(file, earlier) : Journal::create(file, config_hash);
}

}  // namespace

std::string fingerprint(const SearchConfig& config, const std::string& simulator) {
  SearchConfig settled = config;
  settled.workers = 0;  // does not change the result
  std::string text = to_yaml(settled) + to_yaml(config.cluster) + to_yaml(config.space.technology) + config.model_text;
  if (config.baseline) text += to_yaml(config.baseline->cluster) + to_yaml(config.baseline->plan);
  return hash_text(text + simulator);
}

RunDirectory::RunDirectory(fs::path folder, ExistingRun existing, const SearchConfig& config,
                           const std::string& simulator)
    : folder_((prepare(folder, existing), std::move(folder))),
      config_hash_(fingerprint(config, simulator)),
      earlier_(earlier_journal(path("journal.jsonl"), existing, config_hash_)),
      journal_(open_journal(path("journal.jsonl"), earlier_, config_hash_)) {
  write("config.resolved.yaml", to_yaml(config));
  write("config/model.json", config.model_text);
  write("config/cluster.yaml", to_yaml(config.cluster));
  write("config/technology.yaml", to_yaml(config.space.technology));
  if (!config.baseline) return;
  write("config/baseline.cluster.yaml", to_yaml(config.baseline->cluster));
  write("config/baseline.plan.yaml", to_yaml(config.baseline->plan));
}

const nlohmann::json* RunDirectory::found(const std::string& key) const {
  const auto entry = earlier_.entries.find(key);
  return entry == earlier_.entries.end() ? nullptr : &entry->second;
}

void RunDirectory::write(std::string_view name, std::string_view text) const { write_file(path(name), text); }

}  // namespace tandem
