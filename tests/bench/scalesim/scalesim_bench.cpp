// SPDX-License-Identifier: Apache-2.0
// The GEMMs of a file of SCALE-Sim's costs (array, GEMM, total_cycles, cpu_s), each simulated here fold by fold, and
// the mapper on the same GEMMs; prints both as tables in Markdown. `scalesim_bench SPEED.csv`
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <string>
#include <vector>

#include "arch/config.h"
#include "search/mapper.h"
#include "tools/against/against.h"

namespace tandem {
namespace {

/// Processor time of one call, the median of a few that take long enough together to be measured.
template <typename Call>
double cpu_seconds(Call call) {
  constexpr int kRepeats = 5;
  constexpr double kEnough = 2e-3;
  std::vector<double> seconds;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const std::clock_t begin = std::clock();
    int calls = 0;
    double took = 0;
    do {
      call();
      ++calls;
      took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    } while (took < kEnough);
    seconds.push_back(took / calls);
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[kRepeats / 2];
}

std::string name_of(const CsvRow& row) {
  return fmt::format("{}x{}x{} on {}x{} {}", row.integer("M"), row.integer("N"), row.integer("K"),
                     row.integer("array_rows"), row.integer("array_cols"), row.text("dataflow"));
}

void simulate_rows(const CsvTable& table) {
  const ReferenceKind kind = scalesim_kind();
  SimulationOptions options;
  options.detail = Detail::summary;
  options.fold = Fold::off;
  fmt::print("| GEMM, array | cycles there | here | SCALE-Sim, CPU s | tandem, CPU ms | ratio |\n");
  fmt::print("| --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CsvRow row(table, i);
    if (row.text("simulator") != "new") continue;
    const RowAnswer answer = kind.evaluate(row, {}, &options);
    // All that a row takes: reading the chip's file and the prediction too.
    const double own = cpu_seconds([&] { (void)kind.evaluate(row, {}, &options); });
    fmt::print("| {} | {} | {:.0f} | {:.2f} | {:.2f} | {:.0f} |\n", name_of(row), row.integer("total_cycles"),
               answer.metrics.front().simulated, row.number("cpu_s"), 1e3 * own, row.number("cpu_s") / own);
  }
}

void map_rows(const CsvTable& table) {
  const Chip chip = load_chip(find_config("chip", "tpu-v4"));
  std::vector<MatmulShape> shapes{{1, 2048, 12288, 12288}, {1, 2048, 1536, 12288}, {96, 2048, 2048, 128}};
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CsvRow row(table, i);
    const MatmulShape shape{1, row.integer("M"), row.integer("N"), row.integer("K")};
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
  }
  fmt::print("\n| matmul (batch, m, n, k) on {} | mapper, CPU us |\n| --- | ---: |\n", chip.name);
  for (const MatmulShape& shape : shapes) {
    const Operator op = make_matmul("matmul", shape, DataType::bf16);
    const double seconds = cpu_seconds([&] { (void)map_operator(chip, op); });
    fmt::print("| {}, {}, {}, {} | {:.0f} |\n", shape.batch, shape.m, shape.n, shape.k, 1e6 * seconds);
  }
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: scalesim_bench SPEED.csv\n");
    return 2;
  }
  try {
    const tandem::CsvTable table = tandem::load_csv(argv[1]);
    tandem::simulate_rows(table);
    tandem::map_rows(table);
  } catch (const std::exception& error) {
    fmt::print(stderr, "scalesim_bench: {}\n", error.what());
    return 1;
  }
}
