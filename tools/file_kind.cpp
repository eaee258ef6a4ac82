// SPDX-License-Identifier: Apache-2.0
#include "tools/file_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <vector>

#include "arch/config.h"
#include "arch/support/config_tree.h"
#include "arch/support/error.h"
#include "arch/support/hdf5.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// Top-level keys that only one kind of file has.
struct Signature {
  FileKind kind;
  std::vector<std::string_view> keys;
};

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> table{
      {FileKind::chip,
       {"clock", "tensor_cores", "vector_cores", "global_buffer", "noc", "dma", "hbm", "launch", "tdp"}},
      {FileKind::cluster, {"levels", "chip", "overhead", "iteration_overhead", "reserved_memory"}},
      {FileKind::technology, {"node", "area", "energy", "leakage", "mac", "lane", "local_sram", "global_sram"}},
      {FileKind::search,
       {"architecture", "training", "baseline", "validate", "placement", "cluster", "model", "workers", "devices"}},
      {FileKind::plan,
       {"tp", "pp", "dp", "global_batch", "microbatch", "sequence", "stage_layers", "recompute", "schedule"}},
      {FileKind::model,
       {"model_type", "architectures", "hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size",
        "text_config", "n_embd", "n_layer"}}};
  return table;
}

std::optional<FileKind> kind_by_keys(const ConfigNode& root) {
  std::optional<FileKind> best;
  std::size_t most = 0;
  for (const Signature& signature : signatures()) {
    const auto hits = static_cast<std::size_t>(std::count_if(signature.keys.begin(), signature.keys.end(),
                                                             [&](auto key) { return root.find(key) != nullptr; }));
    if (hits > most) {
      most = hits;
      best = signature.kind;
    }
  }
  return best;
}

bool is_hdf5(const fs::path& file) {
  constexpr std::string_view kMagic("\x89HDF\r\n\x1a\n", 8);
  std::ifstream stream(file, std::ios::binary);
  std::string start(kMagic.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  return stream && start == kMagic;
}

[[noreturn]] void unknown(const fs::path& file, const std::string& problem) {
  throw ConfigError(
      {Diagnostic{file.string(), 0, 0, "", problem,
                  "a chip, cluster, technology, model, plan or search config, a run directory, or a trace", ""}});
}

FileKind kind_of_hdf5(const fs::path& path) {
  std::optional<hdf5::File> file;
  try {
    file = hdf5::File::open(path);
  } catch (const std::runtime_error& error) {
    unknown(path, fmt::format("cannot be read as HDF5 ({})", error.what()));
  }
  if (file->exists("/events")) return FileKind::trace;
  if (file->exists("/candidates")) return FileKind::candidates;
  unknown(path, "an HDF5 file without /events and /candidates");
}

KnownFile kind_of_folder(const fs::path& folder) {
  if (fs::exists(folder / "result.json") || fs::exists(folder / "journal.jsonl")) return {FileKind::run, folder, {}};
  if (fs::exists(folder / "config.json")) return {FileKind::model, folder / "config.json", {}};
  unknown(folder, "a folder without result.json (a run) and config.json (a model)");
}

KnownFile kind_of_file(const fs::path& file) {
  if (is_hdf5(file)) return {kind_of_hdf5(file), file, {}};
  if (file.filename() == "result.json") {
    return {FileKind::run, file.has_parent_path() ? file.parent_path() : fs::path("."), {}};
  }
  const ConfigNode root = load_config_tree(file);
  if (root.kind != ConfigNode::Kind::map) unknown(file, "holds no keys at its top level");
  const auto kind = kind_by_keys(root);
  if (!kind) unknown(file, "has no key of any known kind of file");
  return {*kind, file, {}};
}

/// Names of the shipped files of all kinds, "kind/name" too.
std::vector<std::pair<std::string, fs::path>> shipped_files() {
  std::vector<std::pair<std::string, fs::path>> files;
  std::error_code ignored;
  for (fs::recursive_directory_iterator entry(config_directory(), ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    const fs::path extension = entry->path().extension();
    if (extension == ".yaml" || extension == ".json") files.emplace_back(entry->path().stem().string(), entry->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

KnownFile first_kind(const std::vector<fs::path>& files) {
  std::vector<KnownFile> known;
  for (const fs::path& file : files) known.push_back(kind_of_file(file));
  std::stable_sort(known.begin(), known.end(), [](const KnownFile& a, const KnownFile& b) { return a.kind < b.kind; });
  for (std::size_t i = 1; i < known.size(); ++i) known.front().others.push_back(known[i].path);
  return known.front();
}

}  // namespace

KnownFile recognise(const std::string& name_or_path) {
  std::error_code ignored;
  if (fs::is_directory(name_or_path, ignored)) return kind_of_folder(name_or_path);
  if (fs::exists(name_or_path, ignored)) return kind_of_file(name_or_path);
  const auto shipped = shipped_files();
  std::vector<std::string> names;
  std::vector<fs::path> hits;
  for (const auto& [name, path] : shipped) {
    names.push_back(name);
    if (name == name_or_path) hits.push_back(path);
  }
  if (!hits.empty()) return first_kind(hits);
  throw ConfigError({Diagnostic{name_or_path, 0, 0, "", "no such file, folder or shipped config", "",
                                nearest_name(name_or_path, names)}});
}

fs::path find_model(const std::string& name_or_path) {
  std::error_code ignored;
  if (fs::is_directory(name_or_path, ignored)) return fs::path(name_or_path) / "config.json";
  return find_config("model", name_or_path);
}

}  // namespace tandem
