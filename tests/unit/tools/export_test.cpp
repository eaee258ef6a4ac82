// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "arch/support/error.h"
#include "arch/support/hdf5.h"
#include "sim/trace_sink.h"
#include "tools/csv.h"
#include "tools/export/exporters.h"
#include "tools/files.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using hdf5::Column;
using hdf5::ColumnType;
using nlohmann::json;

Column integer(const std::string& name) { return {.name = name, .unit = "1", .description = name}; }
Column text(const std::string& name) {
  return {.name = name, .type = ColumnType::text, .unit = "1", .description = name, .width = 32};
}

/// A small trace with hand-made events.
class Export : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("tandem_export_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    hdf5::File file = hdf5::File::create(folder_ / "t.h5");
    file.set_attribute("/", "complete", std::int64_t{0});
    auto units = file.create_table("/units", {integer("id"), text("name"), text("kind"), integer("parent")});
    units.append({std::int64_t{0}, "chip0", "chip", std::int64_t{-1}});
    units.append({std::int64_t{1}, "chip0.tensor_core0", "tensor_core", std::int64_t{0}});
    units.append({std::int64_t{2}, "chip1", "chip", std::int64_t{-1}});
    units.flush();
    auto operators = file.create_table("/operators", {integer("id"), text("name"), text("layer")});
    operators.append({std::int64_t{0}, "qkv \"x\"", "block"});
    operators.flush();
    auto events =
        file.create_table("/events", {integer("start_ps"), integer("end_ps"), integer("unit"), integer("operator"),
                                      integer("kind"), integer("microbatch"), integer("bytes")});
    const auto add = [&](std::int64_t start, std::int64_t end, std::int64_t unit, std::int64_t operation) {
      const std::array<std::int64_t, 7> row{start, end, unit, operation, static_cast<std::int64_t>(EventKind::compute),
                                            3,     64};
      events.append_integers(row);
    };
    add(0, 10'000'000'000'000, 1, 0);  // ten seconds
    add(1'500'000, 1'500'001, 1, -1);  // one picosecond at 1.5 us
    add(20'000'000'000'000, 25'000'000'000'000, 2, -1);
    events.flush();
    auto counter = file.create_table(
        "/counters/queue",
        {integer("time_ps"), {.name = "value", .type = ColumnType::float64, .unit = "1", .description = ""}});
    counter.append({std::int64_t{2'000'000}, 0.5});
    counter.flush();
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] json exported(const EventFilter& filter = {}, std::int64_t limit = 1 << 20) {
    const fs::path out = folder_ / "out.json";
    result_ = export_perfetto(TraceFile(folder_ / "t.h5"), filter, limit, out);
    return json::parse(read_file(out, 1 << 24));
  }
  static std::vector<json> spans(const json& document) {
    std::vector<json> found;
    for (const json& event : document["traceEvents"]) {
      if (event["ph"] == "X") found.push_back(event);
    }
    return found;
  }

  fs::path folder_;
  ExportResult result_;
};

// The unit of ts and dur is a microsecond whatever displayTimeUnit says; ten seconds must show as ten seconds
// (google/perfetto issue 983).
TEST_F(Export, TimesAreMicroseconds) {
  const auto events = spans(exported());
  ASSERT_EQ(events.size(), 3U);
  EXPECT_DOUBLE_EQ(events[0]["ts"].get<double>(), 0);
  EXPECT_DOUBLE_EQ(events[0]["dur"].get<double>(), 10e6);
  EXPECT_DOUBLE_EQ(events[1]["ts"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(events[1]["dur"].get<double>(), 1e-6);
  EXPECT_DOUBLE_EQ(events[2]["dur"].get<double>(), 5e6);
}

TEST_F(Export, DevicesAreProcessesAndUnitsThreads) {
  const json document = exported();
  const auto events = spans(document);
  EXPECT_NE(events[0]["pid"], events[2]["pid"]);
  EXPECT_EQ(events[0]["name"], "block/qkv \"x\"");
  EXPECT_EQ(events[1]["name"], "compute");
  EXPECT_EQ(events[0]["args"]["bytes"], 64);
  EXPECT_EQ(document["otherData"]["complete"], false);
  std::vector<std::string> threads, processes, counters;
  for (const json& event : document["traceEvents"]) {
    if (event["name"] == "thread_name") threads.push_back(event["args"]["name"]);
    if (event["name"] == "process_name") processes.push_back(event["args"]["name"]);
    if (event["ph"] == "C") counters.push_back(event["name"]);
  }
  EXPECT_THAT(processes, testing::ElementsAre("chip0", "chip1"));
  EXPECT_THAT(threads, testing::Contains("chip0.tensor_core0"));
  EXPECT_THAT(counters, testing::ElementsAre("queue"));
}

TEST_F(Export, FiltersByTimeUnitAndDuration) {
  EventFilter lasting, tensor, late, early;
  lasting.min_duration_ps = 2;
  tensor.unit = "tensor";
  late.from_ps = 11'000'000'000'000;
  early.to_ps = 1'000'000;
  EXPECT_EQ(spans(exported(lasting)).size(), 2U);
  EXPECT_EQ(spans(exported(tensor)).size(), 2U);
  EXPECT_EQ(spans(exported(late)).size(), 1U);
  EXPECT_EQ(spans(exported(early)).size(), 1U);
  EXPECT_EQ(result_.filtered, 2);
}

TEST_F(Export, TheLimitLeavesAWellFormedFile) {
  EXPECT_TRUE(spans(exported({}, 1)).empty());
  EXPECT_EQ(result_.capped, 4);  // three spans and a counter
}

TEST_F(Export, CompressesByName) {
  const fs::path out = folder_ / "out.json.gz";
  (void)export_perfetto(TraceFile(folder_ / "t.h5"), {}, 1 << 20, out);
  gzFile file = gzopen(out.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  std::string content(1 << 16, '\0');
  const int got = gzread(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  ASSERT_GT(got, 0);
  content.resize(static_cast<std::size_t>(got));
  EXPECT_EQ(spans(json::parse(content)).size(), 3U);
  EXPECT_EQ(read_file(out, 1 << 20).substr(0, 2), "\x1f\x8b");
}

TEST_F(Export, TablesBecomeCsv) {
  const ExportResult result = export_csv(TraceFile(folder_ / "t.h5"), {}, folder_ / "tables");
  EXPECT_EQ(result.written, 3);
  const CsvTable events = load_csv(folder_ / "tables" / "events.csv");
  ASSERT_EQ(events.rows.size(), 3U);
  EXPECT_EQ(CsvRow(events, 0).text("operator_name"), "block/qkv \"x\"");
  EXPECT_EQ(CsvRow(events, 0).text("kind"), "compute");
  EXPECT_EQ(CsvRow(events, 0).integer("end_ps"), 10'000'000'000'000);
  EXPECT_EQ(load_csv(folder_ / "tables" / "units.csv").rows.size(), 3U);
  EXPECT_EQ(load_csv(folder_ / "tables" / "counters.queue.csv").rows.size(), 1U);
  EXPECT_THROW((void)export_csv_table(TraceFile(folder_ / "t.h5"), {}, "evnts", folder_ / "x.csv"), ConfigError);
}

TEST_F(Export, OtherFilesAreRefused) {
  write_file(folder_ / "no.h5", "not HDF5");
  EXPECT_THROW(TraceFile(folder_ / "no.h5"), ConfigError);
  EXPECT_THROW(TraceFile(folder_ / "absent.h5"), ConfigError);
  { hdf5::File::create(folder_ / "empty.h5"); }
  EXPECT_THROW(TraceFile(folder_ / "empty.h5"), ConfigError);
}

}  // namespace
}  // namespace tandem
