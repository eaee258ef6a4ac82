// SPDX-License-Identifier: Apache-2.0
// Writes a trace as a run leaves it when it ends, is cancelled, or is killed: write_trace MODE FILE.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "arch/config.h"
#include "search/mapper.h"
#include "search/predict.h"
#include "sim/simulate.h"
#include "sim/trace/hdf5_trace.h"
#include "workloads/program.h"

namespace tandem {
namespace {

Cluster small_cluster() {
  const std::filesystem::path configs = std::filesystem::path(TANDEM_SOURCE_DIR) / "configs" / "cluster";
  return load_cluster(configs / "a100x4-nvlink.yaml").resized(4);
}

Program small_program(const Chip& chip) {
  Plan plan;
  plan.tp = 2;
  plan.pp = 2;
  plan.global_batch = 4;
  plan.sequence = 128;
  plan.stage_layers = {1, 1};
  Program program = build_program(make_gpt("small", 2, 256, 4, 1024, 1024, 128), plan);
  map_program(chip, program);
  return program;
}

int write_complete(const std::filesystem::path& path) {
  const Cluster cluster = small_cluster();
  const Program program = small_program(cluster.chip);
  const Answer predicted = predict(cluster, program);
  SimulationOptions options;
  options.trace = path;
  options.detail = Detail::tile;
  options.command_line = "write_trace complete";
  options.seed = 7;
  simulate(cluster, program, options, &predicted);
  return EXIT_SUCCESS;
}

int write_cancelled(const std::filesystem::path& path) {
  const Cluster cluster = small_cluster();
  const Program program = small_program(cluster.chip);
  SimulationOptions options;
  options.trace = path;
  bool begun = false;
  options.progress = [&begun](double) { begun = true; };
  options.cancelled = [&begun] { return begun; };
  try {
    simulate(cluster, program, options);
  } catch (const CancelledError&) {
    return EXIT_SUCCESS;
  }
  std::cerr << "the run was not cancelled\n";
  return EXIT_FAILURE;
}

[[noreturn]] void write_until_killed(const std::filesystem::path& path) {
  const Cluster cluster = small_cluster();
  const Program program = small_program(cluster.chip);
  Hdf5Trace trace(path, cluster, program, {});
  const std::int32_t unit = trace.add_unit("chip0", "chip", -1);
  trace.start();
  constexpr std::int64_t kEvents = 200'000;
  for (std::int64_t i = 0; i < kEvents; ++i) {
    trace.event({.start = Picoseconds(10 * i), .end = Picoseconds(10 * i + 5), .unit = unit, .bytes = Bytes(i)});
  }
  std::raise(SIGKILL);
  std::abort();
}

int write_killed(const std::filesystem::path& path) {
  const pid_t writer = fork();
  if (writer == 0) write_until_killed(path);
  int status = 0;
  if (waitpid(writer, &status, 0) != writer) return EXIT_FAILURE;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  const std::string mode = argv[1];
  if (mode == "complete") return tandem::write_complete(argv[2]);
  if (mode == "cancelled") return tandem::write_cancelled(argv[2]);
  if (mode == "killed") return tandem::write_killed(argv[2]);
  return EXIT_FAILURE;
}
