// SPDX-License-Identifier: Apache-2.0
#include "arch/support/hdf5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <limits>

namespace tandem::hdf5 {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Hdf5 : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(testing::TempDir()) /
        ("tandem_hdf5_" + std::to_string(getpid()) + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "run.h5";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_, path_;
};

const std::vector<Column> kEvents = {{"start_ps", ColumnType::int64, "ps", "when it begins", 0},
                                     {"bytes", ColumnType::int64, "B", {}, 0}};

template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// Runs `writer` in a process of its own, waits until it has said that it is ready, and kills it outright.
template <typename Writer>
void run_and_kill(Writer writer) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    writer([&] {
      [[maybe_unused]] const auto written = ::write(ready[1], "r", 1);
      for (;;) pause();
    });
    _exit(1);
  }
  close(ready[1]);
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1) << "the writer ended early";
  close(ready[0]);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(Hdf5, TablesComeBackAsWritten) {
  {
    File file = File::create(path_);
    TableWriter table = file.create_table("/a/mixed",
                                          {{"wide", ColumnType::int64, "ps", "why", 0},
                                           {"code", ColumnType::int32, "1", {}, 0},
                                           {"flag", ColumnType::int8, "1", {}, 0},
                                           {"rate", ColumnType::float64, "B/s", {}, 0},
                                           {"name", ColumnType::text, "", {}, 6}},
                                          4);
    for (std::int64_t i = 0; i < 10; ++i) {
      table.append({Cell(i << 40), Cell(-i), Cell(i % 2), Cell(0.5 * static_cast<double>(i)),
                    Cell("n\u00b5" + std::to_string(i))});
    }
    EXPECT_EQ(table.rows(), 10);
  }
  const Table table = File::open(path_).read_table("/a/mixed");
  ASSERT_EQ(table.rows(), 10U);
  ASSERT_EQ(table.columns.size(), 5U);
  EXPECT_EQ(table.columns[0].name, "wide") << "columns keep their order";
  EXPECT_EQ(table.columns[0].unit, "ps");
  EXPECT_EQ(table.columns[0].description, "why");
  EXPECT_EQ(table.columns[1].type, ColumnType::int32);
  EXPECT_EQ(table.columns[4].width, 6);
  EXPECT_EQ(table.column("wide")[9], Cell(std::int64_t{9} << 40));
  EXPECT_EQ(table.column("code")[9], Cell(std::int64_t{-9}));
  EXPECT_EQ(table.column("flag")[9], Cell(std::int64_t{1}));
  EXPECT_EQ(table.column("rate")[9], Cell(4.5));
  EXPECT_EQ(table.column("name")[9], Cell("n\u00b59"));
  EXPECT_THROW((void)table.column("none"), std::out_of_range);
}

TEST_F(Hdf5, FlushesBetweenChunksLoseNothing) {
  {
    File file = File::create(path_);
    TableWriter table = file.create_table("/events", kEvents, 8);
    for (std::int64_t i = 0; i < 100; ++i) {
      table.append_integers(std::array<std::int64_t, 2>{i, i * i});
      if (i % 3 == 0) table.flush();
    }
  }
  const File file = File::open(path_);
  EXPECT_EQ(file.committed_rows("/events"), 100);
  const auto squares = file.read_integers("/events", "bytes", 0, 100);
  for (std::int64_t i = 0; i < 100; ++i) EXPECT_EQ(squares[static_cast<std::size_t>(i)], i * i);
  EXPECT_THAT(file.read_integers("/events", "start_ps", 97, 3), ElementsAre(97, 98, 99));
  EXPECT_THROW((void)file.read_integers("/events", "start_ps", 97, 4), std::out_of_range);
}

TEST_F(Hdf5, CellsThatDoNotFitAreRefusedAndLeaveNoHalfRow) {
  File file = File::create(path_);
  TableWriter table = file.create_table(
      "/t",
      {{"n", ColumnType::int64, "1", {}, 0}, {"c", ColumnType::int8, "1", {}, 0}, {"s", ColumnType::text, "", {}, 3}});
  EXPECT_THROW(table.append({Cell(std::int64_t{1}), Cell(std::int64_t{1}), Cell("long")}), std::length_error);
  EXPECT_THROW(table.append({Cell(std::int64_t{1}), Cell(std::int64_t{200}), Cell("ok")}), std::out_of_range);
  EXPECT_THROW(table.append({Cell(1.5), Cell(std::int64_t{1}), Cell("ok")}), std::invalid_argument);
  EXPECT_THROW(table.append({Cell(std::int64_t{1})}), std::invalid_argument);
  EXPECT_THROW(table.append_integers(std::array<std::int64_t, 3>{1, 1, 1}), std::invalid_argument);
  table.append({Cell(std::int64_t{1}), Cell(std::int64_t{-128}), Cell("abc")});
  EXPECT_EQ(table.rows(), 1);
}

TEST_F(Hdf5, AttributesTextsAndGroups) {
  {
    File file = File::create(path_);
    file.set_attribute("/", "seed", std::int64_t{-7});
    file.set_attribute("/", "ratio", 0.25);
    file.set_attribute("/", "format", "tandem \u00b5");
    file.set_attribute("/", "format", "tandem");
    file.set_attribute("/", "seed", std::int64_t{8});
    file.write_text("/config/chip", "clock: 1 GHz\n");
    file.write_text("/config/empty", "");
    file.create_group("/b/c");
    file.create_group("/b/c");
    file.set_attribute("/b/c", "kind", "x");
  }
  const File file = File::open(path_);
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("/", "seed")), 8);
  EXPECT_EQ(std::get<double>(file.attribute("/", "ratio")), 0.25);
  EXPECT_EQ(std::get<std::string>(file.attribute("/", "format")), "tandem");
  EXPECT_EQ(std::get<std::string>(file.attribute("/b/c", "kind")), "x");
  EXPECT_EQ(file.read_text("/config/chip"), "clock: 1 GHz\n");
  EXPECT_EQ(file.read_text("/config/empty"), "");
  EXPECT_THAT(file.children("/"), ElementsAre("b", "config"));
  EXPECT_TRUE(file.exists("/b/c"));
  EXPECT_TRUE(file.exists("/"));
  EXPECT_FALSE(file.exists("/b/d/e"));
  EXPECT_FALSE(file.exists("/config/chip/x"));
}

TEST_F(Hdf5, AKilledWriterLeavesEveryFlushedRow) {
  run_and_kill([&](auto wait_for_death) {
    File file = File::create(path_);
    file.set_attribute("/", "complete", std::int64_t{0});
    file.set_attribute("/", "format", "tandem");
    TableWriter table = file.create_table("/events", kEvents, 64);
    file.start_swmr();
    for (std::int64_t i = 0; i < 1000; ++i) table.append_integers(std::array<std::int64_t, 2>{i, 2 * i});
    table.flush();
    for (std::int64_t i = 1000; i < 1200; ++i) table.append_integers(std::array<std::int64_t, 2>{i, 2 * i});
    wait_for_death();
  });
  const File file = File::open(path_);
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("/", "complete")), 0);
  EXPECT_EQ(std::get<std::string>(file.attribute("/", "format")), "tandem");
  ASSERT_EQ(file.committed_rows("/events"), 1000);
  const Table table = file.read_table("/events");
  ASSERT_EQ(table.rows(), 1000U);
  for (std::int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(table.column("start_ps")[static_cast<std::size_t>(i)], Cell(i));
    ASSERT_EQ(table.column("bytes")[static_cast<std::size_t>(i)], Cell(2 * i));
  }
}

TEST_F(Hdf5, ALiveFileCanBeFollowedAndFinished) {
  std::array<int, 2> to_child{}, to_parent{};
  ASSERT_EQ(pipe(to_child.data()) + pipe(to_parent.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    File file = File::create(path_);
    file.set_attribute("/", "complete", std::int64_t{0});
    TableWriter table = file.create_table("/events", kEvents, 16);
    file.start_swmr();
    char byte = 0;
    for (std::int64_t round = 0; round < 2; ++round) {
      for (std::int64_t i = 0; i < 50; ++i) table.append_integers(std::array<std::int64_t, 2>{round * 50 + i, 1});
      table.flush();
      if (write(to_parent[1], "r", 1) != 1 || read(to_child[0], &byte, 1) != 1) _exit(2);
    }
    file.set_attribute("/", "complete", std::int64_t{1});
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(to_parent[0], &byte, 1), 1);
  {
    const File reader = File::open(path_);
    EXPECT_EQ(reader.committed_rows("/events"), 50);
    ASSERT_EQ(write(to_child[1], "g", 1), 1);
    ASSERT_EQ(read(to_parent[0], &byte, 1), 1);
    EXPECT_EQ(reader.committed_rows("/events"), 100) << "an open reader sees later rows";
    EXPECT_THAT(reader.read_integers("/events", "start_ps", 98, 2), ElementsAre(98, 99));
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
}

TEST_F(Hdf5, NothingNewAfterSwmrStartsButAttributesChange) {
  {
    File file = File::create(path_);
    file.set_attribute("/", "complete", std::int64_t{0});
    TableWriter table = file.create_table("/events", kEvents, 16);
    file.start_swmr();
    EXPECT_THROW(file.create_table("/late", kEvents), std::runtime_error);
    EXPECT_THROW(file.create_group("/late"), std::runtime_error);
    EXPECT_THROW(file.write_text("/late", "x"), std::runtime_error);
    EXPECT_THROW(file.set_attribute("/", "late", std::int64_t{1}), std::runtime_error);
    EXPECT_THROW(file.set_attribute("/", "late", "x"), std::runtime_error);
    table.append_integers(std::array<std::int64_t, 2>{1, 1});
    table.flush();
    file.set_attribute("/", "complete", std::int64_t{1});
  }
  const File file = File::open(path_);
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("/", "complete")), 1);
  EXPECT_EQ(file.committed_rows("/events"), 1);
}

TEST_F(Hdf5, FilesThatAreNoneSaySo) {
  EXPECT_EQ(error_of([&] { File::open(path_); }), path_.string() + ": file not found");
  EXPECT_THAT(error_of([&] { File::open(folder_); }), HasSubstr("is a directory"));
  std::ofstream(path_) << "clock: 1 GHz\n";
  EXPECT_EQ(error_of([&] { File::open(path_); }), path_.string() + ": is not an HDF5 file");
  EXPECT_THAT(error_of([&] { File::create(folder_ / "absent" / "run.h5"); }), HasSubstr("No such file or directory"));
}

TEST_F(Hdf5, TruncatedFilesAreRefused) {
  {
    File file = File::create(path_);
    TableWriter table = file.create_table("/events", kEvents, 16);
    for (std::int64_t i = 0; i < 1000; ++i) table.append_integers(std::array<std::int64_t, 2>{i, i});
  }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  EXPECT_THAT(error_of([&] { (void)File::open(path_).read_table("/events"); }), HasSubstr(path_.string()));
}

TEST_F(Hdf5, ErrorsNameFileObjectAndCause) {
  File file = File::create(path_);
  file.write_text("/config/chip", "x");
  EXPECT_THAT(error_of([&] { (void)file.read_text("/config/absent"); }),
              testing::MatchesRegex(".*run.h5: /config/absent: cannot be opened: .*"));
  EXPECT_THAT(error_of([&] { (void)file.attribute("/", "absent"); }), HasSubstr("cannot read attribute absent"));
  EXPECT_THAT(error_of([&] { file.write_text("/config/chip", "y"); }), HasSubstr("name already exists"));
  EXPECT_THAT(error_of([&] { (void)file.read_table("/config"); }), HasSubstr("rows"));
}

TEST(Hdf5Library, VersionsOfHeaderAndLibraryAgree) {
  EXPECT_THAT(header_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(header_version(), library_version());
}

// Leaves a file of a killed run at $TANDEM_HDF5_KILLED for the Python test, which reads it without any code of ours.
TEST_F(Hdf5, DISABLED_WriteForPython) {
  const char* target = std::getenv("TANDEM_HDF5_KILLED");
  ASSERT_NE(target, nullptr);
  run_and_kill([&](auto wait_for_death) {
    File file = File::create(target);
    file.set_attribute("/", "format", "tandem");
    file.write_text("/config/chip", "clock: 1 GHz\n");
    TableWriter table = file.create_table("/t",
                                          {{"i", ColumnType::int64, "ps", {}, 0},
                                           {"x", ColumnType::float64, "s", {}, 0},
                                           {"s", ColumnType::text, "", {}, 4}},
                                          128);
    file.start_swmr();
    for (std::int64_t i = 0; i < 1001; ++i) {
      if (i == 1000) table.flush();
      table.append({Cell(i), Cell(static_cast<double>(i) / 2), Cell("s" + std::to_string(i % 7))});
    }
    wait_for_death();
  });
}

}  // namespace
}  // namespace tandem::hdf5
