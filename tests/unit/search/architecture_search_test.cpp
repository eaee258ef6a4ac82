// SPDX-License-Identifier: Apache-2.0
#include "search/architecture_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "arch/area.h"
#include "arch/config.h"
#include "arch/support/error.h"
#include "arch/support/hdf5.h"
#include "search/placement.h"
#include "search/predict.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Stands for the simulator: a little slower than predicted, by an amount that upsets the ranking.
class FakeSimulator : public Evaluator {
 public:
  enum class Fault { none, infeasible, exception, crash };

  Fault fault = Fault::none;
  std::int64_t faulty_tensor_cores = 16;

  Answer evaluate(const Cluster& cluster, const Program& program, const std::string& trace) override {
    if (cluster.chip.tensor.count == faulty_tensor_cores) {
      if (fault == Fault::infeasible) throw InfeasibleError("does not fit the simulator");
      if (fault == Fault::exception) throw std::runtime_error("simulator is broken");
      if (fault == Fault::crash) ::_exit(9);
    }
    Answer answer = predict(cluster, program);
    const std::int64_t slower = cluster.chip.tensor.count == 16 ? 3 : 2;
    answer.iteration.time = answer.iteration.time * slower;
    answer.iteration.tokens_per_second /= static_cast<double>(slower);
    answer.assumptions = {"made up"};
    if (!trace.empty()) std::ofstream(trace) << "trace";
    return answer;
  }
};

SearchConfig small_config() {
  SearchConfig config;
  config.name = "small";
  config.model = make_gpt("small", 4, 512, 8, 2048, 8192, 256);
  config.model_text = "{}";
  config.cluster = load_cluster(find_config("cluster", "tpu-v4-pod")).resized(4);
  config.space.base = config.cluster.chip;
  config.space.technology = load_technology(find_config("technology", "n7"));
  config.space.axes = {{"tensor_cores.count", {"4", "8", "16"}}, {"vector_cores.count", {"2", "4"}}};
  config.plans.devices = 4;
  config.plans.global_batch = 16;
  config.plans.sequence = 256;
  config.plans.tp = {1, 2};
  config.plans.microbatch = {1, 2};
  config.plans.recompute = {Recompute::none};
  config.plans.sequence_parallel = {false};
  config.validate.top = 4;
  Baseline baseline{config.cluster, {}};
  baseline.plan.tp = 2;
  baseline.plan.dp = 2;
  baseline.plan.global_batch = 16;
  baseline.plan.sequence = 256;
  config.baseline = Baseline{config.cluster, resolved(baseline.plan, config.model)};
  return config;
}

class ArchitectureSearch : public testing::Test {
 protected:
  ArchitectureSearch() : folder_(fs::temp_directory_path() / ("tandem_search_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ArchitectureSearch() override { fs::remove_all(folder_); }

  SearchOptions options(const std::string& name, std::int64_t workers = 2) const {
    SearchOptions options;
    options.directory = folder_ / name;
    options.workers = workers;
    options.simulator = "fake";
    return options;
  }

  static std::vector<std::string> rows(const fs::path& file) {
    const hdf5::Table table = hdf5::File::open(file).read_table("/candidates");
    std::vector<std::string> rows;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      std::ostringstream text;
      for (std::size_t column = 0; column < table.columns.size(); ++column) {
        std::visit([&text](const auto& cell) { text << cell << ' '; }, table.data[column][row]);
      }
      rows.push_back(text.str());
    }
    return rows;
  }

  fs::path folder_;
  SearchConfig config_ = small_config();
  FakeSimulator simulator_;
};

TEST_F(ArchitectureSearch, RanksBySimulationAndLeavesEverything) {
  const SearchResult result = search_architecture(config_, simulator_, options("run"));
  EXPECT_EQ(result.status, SearchStatus::complete);
  EXPECT_EQ(result.candidates.size(), 6U);
  ASSERT_NE(result.best(), nullptr);
  ASSERT_TRUE(result.best()->simulated.has_value());
  for (const std::size_t i : result.ranking) {
    const auto& simulated = result.candidates[i].simulated;
    if (simulated.has_value()) {
      EXPECT_GE(simulated->time, result.best()->simulated->time);
    }
  }
  for (const char* name : {"result.json", "search.h5", "journal.jsonl", "config.resolved.yaml", "config/cluster.yaml",
                           "best/chip.yaml", "best/plan.yaml", "best/cluster.yaml", "best/trace.h5"}) {
    EXPECT_TRUE(fs::exists(folder_ / "run" / name)) << name;
  }
  EXPECT_EQ(load_plan(folder_ / "run/best/plan.yaml"), result.best()->plan);
  EXPECT_EQ(load_chip(folder_ / "run/best/chip.yaml").name, "small-" + std::to_string(result.best()->architecture));
  const auto json = nlohmann::json::parse(read(folder_ / "run/result.json"));
  EXPECT_EQ(json["status"], "complete");
  EXPECT_EQ(json["best"]["simulated"]["time_ps"], result.best()->simulated->time.count());
  EXPECT_EQ(json["baselines"].size(), 2U);
  EXPECT_GE(json["baselines"]["own_best_plan"]["predicted"]["tokens_per_second"],
            json["baselines"]["hand_made"]["predicted"]["tokens_per_second"]);
  EXPECT_TRUE(json["trace"]["repeats_simulation"]);
  EXPECT_EQ(json["assumptions"][0], "made up");
  EXPECT_EQ(rows(folder_ / "run/search.h5").size(), 6U);
}

TEST_F(ArchitectureSearch, DoesNotDependOnTheWorkers) {
  search_architecture(config_, simulator_, options("one", 1));
  search_architecture(config_, simulator_, options("three", 3));
  EXPECT_EQ(read(folder_ / "one/result.json"), read(folder_ / "three/result.json"));
  EXPECT_EQ(rows(folder_ / "one/search.h5"), rows(folder_ / "three/search.h5"));
}

TEST_F(ArchitectureSearch, ResumedWhereverItEndedItIsTheSame) {
  search_architecture(config_, simulator_, options("whole"));
  const std::string journal = read(folder_ / "whole/journal.jsonl");
  const auto lines = static_cast<std::size_t>(std::count(journal.begin(), journal.end(), '\n'));
  for (std::size_t keep = 1; keep < lines; keep += 3) {
    SearchOptions again = options("part" + std::to_string(keep));
    fs::create_directories(again.directory);
    std::size_t end = 0;
    for (std::size_t i = 0; i < keep; ++i) end = journal.find('\n', end) + 1;
    std::ofstream(again.directory / "journal.jsonl") << journal.substr(0, end + 20);  // and a line cut short
    again.existing = ExistingRun::resume;
    search_architecture(config_, simulator_, again);
    EXPECT_EQ(read(again.directory / "result.json"), read(folder_ / "whole/result.json"));
    EXPECT_EQ(rows(again.directory / "search.h5"), rows(folder_ / "whole/search.h5"));
  }
}

TEST_F(ArchitectureSearch, InterruptedItKeepsWhatItFoundAndGoesOn) {
  search_architecture(config_, simulator_, options("whole"));
  SearchOptions stopped = options("stopped", 1);
  int simulated = 0;
  stopped.progress = [&simulated](const SearchProgress& progress) {
    if (progress.phase == SearchPhase::simulate && progress.done > 0) ++simulated;
  };
  stopped.cancelled = [&simulated] { return simulated >= 2; };
  const SearchResult part = search_architecture(config_, simulator_, stopped);
  EXPECT_EQ(part.status, SearchStatus::interrupted);
  EXPECT_EQ(nlohmann::json::parse(read(folder_ / "stopped/result.json"))["status"], "interrupted");
  EXPECT_EQ(rows(folder_ / "stopped/search.h5").size(), 6U);
  SearchOptions on = options("stopped");
  on.existing = ExistingRun::resume;
  search_architecture(config_, simulator_, on);
  EXPECT_EQ(read(folder_ / "stopped/result.json"), read(folder_ / "whole/result.json"));
}

TEST_F(ArchitectureSearch, AFailingSimulationIsARowWithItsReason) {
  for (const auto& [fault, reason] : {std::pair{FakeSimulator::Fault::infeasible, "does not fit the simulator"},
                                      std::pair{FakeSimulator::Fault::exception, "simulator is broken"},
                                      std::pair{FakeSimulator::Fault::crash, "status 9"}}) {
    simulator_.fault = fault;
    SearchOptions again = options("faulty");
    again.existing = ExistingRun::overwrite;
    const SearchResult result = search_architecture(config_, simulator_, again);
    EXPECT_EQ(result.status, SearchStatus::complete);
    ASSERT_TRUE(result.best()->simulated.has_value());
    int failed = 0;
    for (const Candidate& candidate : result.candidates) {
      if (candidate.status != CandidateStatus::failed) continue;
      ++failed;
      EXPECT_THAT(candidate.reason, HasSubstr(reason));
    }
    EXPECT_GT(failed, 0);
  }
}

TEST_F(ArchitectureSearch, AnExistingRunIsNotTouchedUnasked) {
  search_architecture(config_, simulator_, options("run"));
  EXPECT_THROW(search_architecture(config_, simulator_, options("run")), ConfigError);
  SearchOptions other = options("run");
  other.existing = ExistingRun::resume;
  SearchConfig changed = config_;
  changed.plans.global_batch = 32;
  changed.baseline.reset();
  try {
    search_architecture(changed, simulator_, other);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("other inputs"));
  }
  std::ofstream(folder_ / "run/mine.txt") << "keep";
  other.existing = ExistingRun::overwrite;
  search_architecture(changed, simulator_, other);
  EXPECT_EQ(read(folder_ / "run/mine.txt"), "keep");
}

TEST_F(ArchitectureSearch, NothingFitsSaysWhyAndLeavesTheTable) {
  config_.cluster.chip.hbm.capacity = Bytes(600LL << 20);
  config_.space.base = config_.cluster.chip;
  config_.space.max_area = estimate_area(config_.space.base, config_.space.technology).total();
  try {
    search_architecture(config_, simulator_, options("run"));
    FAIL();
  } catch (const InfeasibleError& error) {
    EXPECT_THAT(error.what(), HasSubstr("exceed the area limit"));
    EXPECT_THAT(error.what(), HasSubstr("failed for memory"));
    EXPECT_THAT(error.what(), HasSubstr("nearest miss"));
  }
  EXPECT_EQ(nlohmann::json::parse(read(folder_ / "run/result.json"))["status"], "infeasible");
}

/// What the pre-filter leaves out by bounds is not among the best of all, placed one by one.
TEST_F(ArchitectureSearch, PrefilterKeepsTheBestOfPlainEnumeration) {
  config_.space.axes = {{"tensor_cores.count", {"1", "2", "4", "8", "16", "32"}},
                        {"tensor_cores.rows", {"16", "64", "128"}},
                        {"tensor_cores.cols", {"32", "128"}},
                        {"vector_cores.count", {"1", "8"}},
                        {"global_buffer.capacity", {"2 MiB", "32 MiB"}}};
  SearchOptions only = options("run");
  only.scope = SearchScope::prefilter_only;
  const SearchResult found = search_architecture(config_, simulator_, only);

  const Placer placer(config_.model, config_.plans, config_.cluster);
  std::vector<std::int64_t> times;
  enumerate(config_.space, [&](const DesignPoint& point) {
    const PlacementResult placed = placer.place(point.chip);
    if (!placed.best.empty()) times.push_back(placed.best.front().time.count());
  });
  std::sort(times.begin(), times.end());
  ASSERT_GT(times.size(), 60U);
  std::int64_t bounded = 0;
  for (const Candidate& candidate : found.candidates) bounded += candidate.status == CandidateStatus::bounded ? 1 : 0;
  EXPECT_GT(bounded, 20);
  for (std::size_t i = 0; i < static_cast<std::size_t>(config_.validate.top); ++i) {
    EXPECT_EQ(found.candidates[found.ranking[i]].predicted->time.count(), times[i]) << i;
  }
}

TEST_F(ArchitectureSearch, PrefilterRanksByPrediction) {
  SearchOptions only = options("run");
  only.scope = SearchScope::prefilter_only;
  simulator_.fault = FakeSimulator::Fault::crash;
  const SearchResult result = search_architecture(config_, simulator_, only);
  EXPECT_EQ(result.status, SearchStatus::prefiltered);
  for (const std::size_t i : result.ranking) EXPECT_FALSE(result.candidates[i].simulated.has_value());
  EXPECT_FALSE(fs::exists(folder_ / "run/best/trace.h5"));
}

}  // namespace
}  // namespace tandem
