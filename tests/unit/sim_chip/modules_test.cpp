// SPDX-License-Identifier: Apache-2.0
// Timelines of single modules, worked out by hand.
#include <gtest/gtest.h>
#include <deque>
#include <map>

#include "sim/chip/command_processor.h"
#include "sim/chip/dma_engine.h"
#include "sim/chip/global_buffer.h"
#include "sim/chip/hbm_stack.h"
#include "sim/chip/noc.h"
#include "sim/chip/tensor_core.h"
#include "sim/chip/vector_core.h"
#include "sim/kernel/context.h"

namespace tandem::sim {
namespace {

using std::chrono::nanoseconds;

Path start_of(std::int32_t op = 0) {
  Path path;
  path.op = op;
  return path;
}

/// Keeps what was answered, by tag.
struct Answers : NocClient, DmaClient {
  std::map<std::uint64_t, Path> done;
  void noc_answered(std::uint64_t tag, const Path& at) override { done[tag] = at; }
  void dma_answered(std::uint64_t tag, const Path& at) override { done[tag] = at; }
};

class Modules : public testing::Test {
 protected:
  static GlobalBuffer::Spec buffer_spec() {
    GlobalBuffer::Spec spec;
    spec.rate = Rate(Bandwidth(64e9));
    spec.row = Bytes(64);
    spec.capacity = Bytes(1 << 20);
    spec.latency = nanoseconds(3);
    return spec;
  }
  static Noc::Spec noc_spec() { return {Rate(Bandwidth(16e9)), nanoseconds(2), 2}; }

  NocTransfer read(std::size_t port, std::int64_t bytes, std::uint64_t tag, SharedRead* shared = nullptr) {
    NocTransfer transfer;
    transfer.port = port;
    transfer.parts[0] = {Bytes(bytes), shared};
    transfer.arrival = start_of();
    transfer.key = tag;
    transfer.tag = tag;
    transfer.client = &answers_;
    return transfer;
  }

  SimulationContext context_;
  GlobalBuffer buffer_{"buffer", buffer_spec()};
  Noc noc_{"noc", noc_spec(), buffer_};
  Answers answers_;
};

TEST_F(Modules, NocFlowsAtTheSlowerOfBufferAndPort) {
  noc_.submit(read(0, 640, 0));
  sc_core::sc_start();
  EXPECT_EQ(answers_.done[0].at, nanoseconds(40 + 2));  // the port; the buffer would be done at 10 + 3
  EXPECT_EQ(answers_.done[0].causes[Cause::noc], nanoseconds(42));
}

TEST_F(Modules, ReadsOfOneInstantAreServedByKey) {
  noc_.submit(read(1, 640, 1));
  noc_.submit(read(0, 64, 0));
  sc_core::sc_start();
  EXPECT_EQ(answers_.done[0].at, nanoseconds(4 + 2));
  EXPECT_EQ(answers_.done[1].at, nanoseconds(1 + 40 + 2));  // 1 ns behind the other in the buffer
}

TEST_F(Modules, BufferTakesWholeRowsOfBanks) {
  noc_.submit(read(0, 1, 0));
  sc_core::sc_start();
  EXPECT_EQ(answers_.done[0].at, nanoseconds(1 + 3 + 2));
  EXPECT_EQ(buffer_.stats().read, Bytes(1));
}

TEST_F(Modules, MulticastIsReadOnce) {
  SharedRead shared;
  noc_.submit(read(0, 640, 0, &shared));
  noc_.submit(read(1, 640, 1, &shared));
  sc_core::sc_start();
  EXPECT_EQ(answers_.done[0].at, answers_.done[1].at);
  EXPECT_EQ(buffer_.stats().read, Bytes(640));
  EXPECT_EQ(noc_.stats().to_cores, Bytes(1280));
}

TEST_F(Modules, ReadsAndWritesDoNotMeet) {
  NocTransfer write = read(0, 640, 1);
  write.access = Access::write;
  noc_.submit(read(0, 640, 0));
  noc_.submit(write);
  sc_core::sc_start();
  EXPECT_EQ(answers_.done[0].at, answers_.done[1].at);
}

TEST_F(Modules, BufferCountsItsRoom) {
  EXPECT_TRUE(buffer_.has_room(Bytes(1 << 20)));
  buffer_.acquire(Bytes(1000));
  EXPECT_FALSE(buffer_.has_room(Bytes(1 << 20)));
  buffer_.release(Bytes(1000));
  EXPECT_TRUE(buffer_.has_room(Bytes(1 << 20)));
  EXPECT_EQ(buffer_.stats().peak, Bytes(1000));
}

/// Two channels of 8 B/ns, 20 ns to the first data.
HbmStack::Spec stack_spec() {
  HbmChannelSpec channel;
  channel.rate = Rate(Bandwidth(8e9));
  channel.atom = Bytes(32);
  channel.access = nanoseconds(20);
  return {{channel, channel}, {}};
}

DmaTransfer load(std::int64_t bytes, std::uint64_t tag, DmaClient& client) {
  DmaTransfer transfer;
  transfer.bytes = Bytes(bytes);
  transfer.arrival = start_of();
  transfer.key = tag;
  transfer.tag = tag;
  transfer.client = &client;
  return transfer;
}

TEST_F(Modules, DmaSetsUpThenStreamsOverAllChannels) {
  HbmStack stack("hbm", stack_spec());
  DmaEngine dma("dma", {nanoseconds(10), {}}, {&stack}, buffer_);
  dma.submit(load(1600, 0, answers_));
  sc_core::sc_start();
  EXPECT_EQ(answers_.done[0].at, nanoseconds(10 + 20 + 100));
  EXPECT_EQ(answers_.done[0].causes[Cause::hbm_bandwidth], nanoseconds(100));
  EXPECT_EQ(buffer_.stats().written, Bytes(1600));
}

TEST_F(Modules, NextTransferIsSetUpWhileOneStreams) {
  HbmStack stack("hbm", stack_spec());
  DmaEngine dma("dma", {nanoseconds(10), {}}, {&stack}, buffer_);
  dma.submit(load(1600, 0, answers_));
  dma.submit(load(1600, 1, answers_));
  sc_core::sc_start();
  EXPECT_EQ(answers_.done[1].at, nanoseconds(130 + 100));
  EXPECT_TRUE(dma.idle());
}

TEST_F(Modules, WindowBoundsTheRateOfAnEngine) {
  HbmStack stack("hbm", stack_spec());
  DmaEngine dma("dma", {nanoseconds(0), Rate(Bandwidth(4e9))}, {&stack}, buffer_);
  dma.submit(load(1600, 0, answers_));
  sc_core::sc_start();
  EXPECT_EQ(answers_.done[0].at, nanoseconds(400));
  EXPECT_EQ(answers_.done[0].causes[Cause::hbm_overhead], nanoseconds(300));
}

TEST_F(Modules, StacksShareATransfer) {
  HbmStack first("hbm0", stack_spec());
  HbmStack second("hbm1", stack_spec());
  DmaEngine dma("dma", {nanoseconds(0), {}}, {&first, &second}, buffer_);
  dma.submit(load(1600, 0, answers_));
  sc_core::sc_start();
  // 800 B a stack are 25 atoms: 13 on one channel.
  EXPECT_EQ(answers_.done[0].at, nanoseconds(20 + 13 * 4));
}

/// Hands out given tiles, and lets results leave at once.
struct Tiles : TileSource {
  std::deque<TileJob> waiting;
  std::vector<Path> loads, ends;
  TensorCore* core = nullptr;
  Pull next(std::int64_t, TileJob& job) override {
    if (waiting.empty()) return Pull::finished;
    job = waiting.front();
    waiting.pop_front();
    return Pull::job;
  }
  void loaded(const TileJob&, const Path& done) override { loads.push_back(done); }
  void computed(std::int64_t, const TileJob& job, const Path& done) override {
    ends.push_back(done);
    if (core != nullptr && job.ends_task) core->result_left(done);
  }
};

TileJob tile(std::int64_t bytes, std::int64_t total, std::int64_t steady) {
  TileJob job;
  job.op = 0;
  job.loads[0].bytes = Bytes(bytes);
  job.inputs = Bytes(bytes);
  job.time.total = nanoseconds(total);
  job.time.steady = nanoseconds(steady);
  job.time.fill_drain = nanoseconds(total - steady);
  job.ready = start_of();
  return job;
}

TEST_F(Modules, TensorCoreLoadsTheNextTileWhileItComputes) {
  TensorCore core("core", {0}, noc_);
  Tiles tiles;
  tiles.core = &core;
  tiles.waiting = {tile(160, 100, 90), tile(160, 100, 90), tile(160, 100, 90)};
  core.assign({&tiles, 0, Bytes(1000), kMostTiles, 2});
  sc_core::sc_start();
  ASSERT_EQ(tiles.ends.size(), 3U);
  EXPECT_EQ(tiles.loads[0].at, nanoseconds(12));
  EXPECT_EQ(tiles.ends[0].at, nanoseconds(112));
  EXPECT_EQ(tiles.ends[1].at, nanoseconds(202));  // fill hidden
  EXPECT_EQ(tiles.ends[2].at, nanoseconds(292));
  EXPECT_EQ(tiles.ends[2].causes[Cause::compute], nanoseconds(270));
  EXPECT_EQ(tiles.ends[2].causes[Cause::fill_drain], nanoseconds(10));
  EXPECT_EQ(tiles.ends[2].causes[Cause::noc], nanoseconds(12));
}

TEST_F(Modules, TensorCoreWithOneBufferAlternates) {
  TensorCore core("core", {0}, noc_);
  Tiles tiles;
  tiles.core = &core;
  tiles.waiting = {tile(160, 100, 90), tile(160, 100, 90)};
  core.assign({&tiles, 0, Bytes(1000), 1, 2});
  sc_core::sc_start();
  EXPECT_EQ(tiles.ends[1].at, nanoseconds(2 * 112));
  EXPECT_EQ(tiles.ends[1].causes[Cause::buffer_stall], nanoseconds(12));
}

TEST_F(Modules, TensorCoreWaitsForRoomInBytes) {
  TensorCore core("core", {0}, noc_);
  Tiles tiles;
  tiles.core = &core;
  tiles.waiting = {tile(160, 100, 90), tile(160, 100, 90)};
  core.assign({&tiles, 0, Bytes(319), kMostTiles, 2});
  sc_core::sc_start();
  EXPECT_EQ(tiles.ends[1].at, nanoseconds(2 * 112));
}

TEST_F(Modules, LateOperandsShowTheFill) {
  TensorCore core("core", {0}, noc_);
  Tiles tiles;
  tiles.core = &core;
  tiles.waiting = {tile(160, 20, 15), tile(800, 20, 15)};
  core.assign({&tiles, 0, Bytes(2000), kMostTiles, 2});
  sc_core::sc_start();
  EXPECT_EQ(tiles.loads[1].at, nanoseconds(10 + 50 + 2));
  EXPECT_EQ(tiles.ends[1].at, nanoseconds(62 + 20));
}

TEST_F(Modules, LocalBandwidthBoundsATile) {
  TensorCore core("core", {0}, noc_);
  Tiles tiles;
  tiles.core = &core;
  tiles.waiting = {tile(0, 100, 90)};
  tiles.waiting.front().time.local = nanoseconds(130);
  core.assign({&tiles, 0, Bytes(1000), kMostTiles, 1});
  sc_core::sc_start();
  EXPECT_EQ(tiles.ends[0].at, nanoseconds(130));
  EXPECT_EQ(tiles.ends[0].causes[Cause::buffer_stall], nanoseconds(30));
}

TEST_F(Modules, VectorCoreOverlapsLoadAndWork) {
  VectorCore core("core", {1}, noc_);
  Tiles tiles;
  TileJob job = tile(160, 0, 0);
  job.vector_time = nanoseconds(50);
  tiles.waiting = {job, job};
  core.assign({&tiles, 0, Bytes(1000), kMostTiles});
  sc_core::sc_start();
  ASSERT_EQ(tiles.ends.size(), 2U);
  EXPECT_EQ(tiles.ends[0].at, nanoseconds(62));
  EXPECT_EQ(tiles.ends[1].at, nanoseconds(112));
  EXPECT_EQ(tiles.ends[1].causes[Cause::vector_compute], nanoseconds(100));
  EXPECT_EQ(core.stats().busy, nanoseconds(100));
}

TEST_F(Modules, CommandProcessorSaysWhoWaitsForWhat) {
  CommandProcessor::Command large;
  large.name = "large";
  large.global_buffer = Bytes(1 << 21);
  CommandProcessor::Command next;
  next.name = "next";
  next.after = {0};
  CommandProcessor processor("processor", {large, next}, buffer_, {});
  sc_core::sc_start();
  EXPECT_FALSE(processor.finished());
  EXPECT_EQ(processor.unfinished(),
            "\n  large waits for room in the global buffer\n  next waits for earlier operators");
}

}  // namespace
}  // namespace tandem::sim
