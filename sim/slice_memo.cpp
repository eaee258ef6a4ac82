// SPDX-License-Identifier: Apache-2.0
#include "sim/slice_memo.h"

#include <algorithm>

#include "arch/config.h"

namespace tandem {
namespace {

std::string key_of(const Chip& chip, const Ideal& ideal) {
  std::string key = to_yaml(chip);
  for (const bool off : {ideal.hbm, ideal.noc, ideal.links, ideal.launch}) key += off ? '1' : '0';
  return key;
}

}  // namespace

bool same_work(const Slice& a, const Slice& b) {
  return a.mappings == b.mappings && a.schedule.order == b.schedule.order && a.graph == b.graph;
}

const SliceRun* SliceMemo::find(const Chip& chip, const Ideal& ideal, const Slice& slice) const {
  const auto same_chip = runs_.find(key_of(chip, ideal));
  if (same_chip == runs_.end()) return nullptr;
  const auto entry = std::find_if(same_chip->second.begin(), same_chip->second.end(),
                                  [&](const Entry& candidate) { return same_work(candidate.slice, slice); });
  return entry == same_chip->second.end() ? nullptr : &entry->run;
}

void SliceMemo::keep(const Chip& chip, const Ideal& ideal, const Slice& slice, SliceRun run) {
  runs_[key_of(chip, ideal)].push_back({slice, std::move(run)});
}

std::size_t SliceMemo::size() const {
  std::size_t entries = 0;
  for (const auto& [key, list] : runs_) entries += list.size();
  return entries;
}

}  // namespace tandem
