// SPDX-License-Identifier: Apache-2.0
// Matmul mappings: candidates by shape of tile and block, the least predicted time wins.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "arch/support/error.h"
#include "search/map_kinds.h"
#include "search/operator_times.h"

namespace tandem {
namespace {

constexpr std::int64_t kLongestTile = 4096;
/// Tile shapes looked at closely, by size class; the best by compute time of each class.
constexpr std::size_t kPerClass = 2;
/// Where kernels leave few shapes all of them are.
constexpr std::size_t kPerClassOfKernels = 8;

struct Job {
  const Chip* chip = nullptr;
  const Operator* op = nullptr;
  CoreRange tensor_cores, vector_cores;
};

struct TileCandidate {
  TileShape tile;
  std::int64_t split_k = 1;
  bool double_buffer = true;
  double compute = 0;  ///< seconds in whole waves
  double bound = 0;    ///< no mapping with this tile is faster
};

void add_unique(std::vector<std::int64_t>& values, std::int64_t value) {
  if (value > 0 && std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

/// Powers of two from `least`, the whole, and even shares of it in whole arrays.
std::vector<std::int64_t> tile_extents(std::int64_t whole, std::int64_t array, std::int64_t least) {
  std::vector<std::int64_t> values;
  for (std::int64_t extent = least; extent < whole && extent <= kLongestTile; extent *= 2) add_unique(values, extent);
  if (whole <= kLongestTile) add_unique(values, whole);
  for (const std::int64_t parts : {2, 3, 5, 6, 7, 9, 12}) {
    const std::int64_t extent = ceil_div(ceil_div(whole, parts), array) * array;
    if (extent >= least && extent < whole && extent <= kLongestTile) add_unique(values, extent);
  }
  return values;
}

/// Longest k for which both inputs (twice, if double-buffered) and the partial sums fit a core; 0 if none does.
std::int64_t longest_k(const Job& job, std::int64_t m, std::int64_t n, bool double_buffer) {
  const std::int64_t sums = kPartialSum.value() * m * n;
  const std::int64_t room = job.chip->tensor.local_buffer.value() - sums;
  const std::int64_t per_k = size_of(job.op->dtype).value() * (m + n) * (double_buffer ? 2 : 1);
  return room < per_k ? 0 : room / per_k;
}

/// K cut into `steps` even runs of whole arrays, at most `fits`: behind a short tile the next load would not be hidden.
std::int64_t even_k(const Job& job, std::int64_t fits, std::int64_t whole, std::int64_t steps) {
  const std::int64_t even = ceil_div(whole, steps);
  const std::int64_t array = job.chip->tensor.rows;
  const std::int64_t rounded = ceil_div(even, array) * array;
  return std::min(fits, rounded <= fits ? std::min(rounded, whole) : even);
}

MatmulMapping whole_problem(const Job& job, const TileCandidate& candidate) {
  MatmulMapping mapping;
  const MatmulShape& shape = job.op->matmul;
  mapping.block = {shape.m, shape.n, shape.k};
  mapping.tile = candidate.tile;
  mapping.split_k = candidate.split_k;
  mapping.double_buffer = candidate.double_buffer;
  return mapping;
}

void weigh(const Job& job, TileCandidate& candidate) {
  const std::int64_t cores = job.tensor_cores.count;
  const MatmulMapping mapping = whole_problem(job, candidate);
  const ComputeTime compute = compute_time(*job.chip, *job.op, mapping, cores);
  const Chip& chip = *job.chip;
  const double tasks = static_cast<double>(task_count(*job.op, mapping, cores));
  const double steps = std::ceil(tasks / static_cast<double>(cores)) *
                       static_cast<double>(ceil_div(ceil_div(job.op->matmul.k, candidate.tile.k), candidate.split_k));
  const Bytes loaded = size_of(job.op->dtype) * ((candidate.tile.m + candidate.tile.n) * candidate.tile.k);
  const Seconds arrival = chip.noc.latency + chip.glb.latency +
                          (chip.noc.port_bandwidth.value() > 0 ? loaded / chip.noc.port_bandwidth : Seconds(0));
  const auto at_once = static_cast<double>(local_room(chip, *job.op, mapping).tiles);
  candidate.compute = std::max(compute.total, (arrival * steps + compute.occupied) / at_once).count();
  const MatmulShape& shape = job.op->matmul;
  const double macs = static_cast<double>(job.op->matmul_flops().value()) / 2;
  const double peak = job.chip->core_macs_per_cycle(job.op->dtype) * job.chip->clock.value();
  const double operand_bytes = static_cast<double>(size_of(job.op->dtype).value()) * macs;
  const bool loads_a = job.op->inputs.empty() || job.op->inputs[0].where != Residency::core;
  const bool loads_b = job.op->inputs.size() < 2 || job.op->inputs[1].where != Residency::core;
  const double port = operand_bytes * ((loads_a ? 1.0 / static_cast<double>(std::min(candidate.tile.n, shape.n)) : 0) +
                                       (loads_b ? 1.0 / static_cast<double>(std::min(candidate.tile.m, shape.m)) : 0));
  const double rate = job.chip->noc.port_bandwidth.value();
  candidate.bound = std::max(macs / peak, rate > 0 ? port / rate : 0) / static_cast<double>(cores);
}

/// Cores that would stand idle take a part of K each.
std::vector<std::int64_t> splits(const Job& job, const TileShape& tile) {
  std::vector<std::int64_t> values{1};
  const MatmulShape& shape = job.op->matmul;
  const std::int64_t outputs = checked_product(shape.batch, ceil_div(shape.m, tile.m), ceil_div(shape.n, tile.n));
  const std::int64_t idle = job.tensor_cores.count / outputs;
  const bool fused = !job.op->outputs.empty() && job.op->outputs[0].where == Residency::core;
  if (idle < 2 || fused || job.vector_cores.count == 0) return values;
  for (std::int64_t split = 2; split <= idle; split *= 2) add_unique(values, split);
  add_unique(values, idle);
  return values;
}

/// Depths of a tile, of which as much as `longest.k` fits: the longest, and even parts of it, of which more fit at
/// once; of a library's kernels the longest, and with few tasks a core also a short one, of which the first comes
/// sooner.
std::vector<std::int64_t> depths(const Job& job, const TileShape& longest, std::int64_t whole) {
  constexpr std::int64_t kShort = 64, kFewTasks = 8;
  const MatmulShape& shape = job.op->matmul;
  const std::int64_t steps = ceil_div(whole, longest.k);
  std::vector<std::int64_t> values{even_k(job, longest.k, whole, steps)};
  if (job.chip->tensor.tiles.empty()) {
    for (const std::int64_t finer : {2, 4}) add_unique(values, even_k(job, longest.k, whole, steps * finer));
  }
  const std::int64_t tasks = checked_product(shape.batch, ceil_div(shape.m, longest.m), ceil_div(shape.n, longest.n));
  const bool few = tasks <= kFewTasks * job.tensor_cores.count;
  if (!job.chip->tensor.tiles.empty() && few && values.front() >= 2 * kShort) values.push_back(kShort);
  return values;
}

bool cheaper(const TileCandidate& a, const TileCandidate& b) {
  return std::pair(a.compute, a.bound) < std::pair(b.compute, b.bound);
}

std::vector<TileCandidate> tile_candidates(const Job& job, std::int64_t least, bool double_buffer) {
  const MatmulShape& shape = job.op->matmul;
  const std::size_t per_class = job.chip->tensor.tiles.empty() ? kPerClass : kPerClassOfKernels;
  std::map<int, std::vector<TileCandidate>> classes;  // by log2 of the area
  for (const auto& [m, n] : output_tile_candidates(*job.chip, shape, least)) {
    const std::int64_t fits = longest_k(job, m, n, double_buffer);
    if (fits == 0) continue;
    for (const std::int64_t split : splits(job, {m, n, 1})) {
      std::vector<TileCandidate> by_depth;
      for (const std::int64_t k : depths(job, {m, n, fits}, ceil_div(shape.k, split))) {
        by_depth.push_back({{m, n, k}, split, double_buffer, 0, 0});
        weigh(job, by_depth.back());
      }
      // Kernels' depths differ in when the first tile comes, which is not weighed here.
      if (job.chip->tensor.tiles.empty()) {
        std::swap(by_depth.front(), *std::min_element(by_depth.begin(), by_depth.end(), cheaper));
        by_depth.resize(1);
      }
      int size_class = split > 1 ? 64 : 0;
      for (std::int64_t area = m * n; area > 1; area /= 2) ++size_class;
      auto& members = classes[size_class];
      members.insert(members.end(), by_depth.begin(), by_depth.end());
    }
  }
  std::vector<TileCandidate> chosen;
  for (auto& [size_class, members] : classes) {
    std::stable_sort(members.begin(), members.end(), cheaper);
    for (std::size_t i = 0; i < std::min(per_class, members.size()); ++i) chosen.push_back(members[i]);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const TileCandidate& a, const TileCandidate& b) {
    return std::max(a.compute, a.bound) < std::max(b.compute, b.bound);
  });
  return chosen;
}

struct Grid {
  std::int64_t m = 1, n = 1;
  bool operator==(const Grid&) const = default;
};

/// Tiles of a block along m and n: about as many as there are cores, in every aspect; or whole panels of the problem.
std::vector<Grid> grids(const Job& job, const TileCandidate& candidate) {
  const MatmulShape& shape = job.op->matmul;
  const Grid all{ceil_div(shape.m, candidate.tile.m), ceil_div(shape.n, candidate.tile.n)};
  const std::int64_t at_once = std::max<std::int64_t>(1, job.tensor_cores.count / candidate.split_k);
  std::vector<Grid> result;
  const auto add = [&](std::int64_t m, std::int64_t n) {
    const Grid grid{std::min(m, all.m), std::min(n, all.n)};
    if (std::find(result.begin(), result.end(), grid) == result.end()) result.push_back(grid);
  };
  for (std::int64_t side = 1; side <= at_once; side *= 2) {
    if (side <= all.m) add(side, std::max<std::int64_t>(1, at_once / side));
    if (side <= all.n) add(std::max<std::int64_t>(1, at_once / side), side);
  }
  add(std::min(all.m, at_once), std::max<std::int64_t>(1, at_once / std::min(all.m, at_once)));
  add(std::max<std::int64_t>(1, at_once / std::min(all.n, at_once)), std::min(all.n, at_once));
  for (std::int64_t side = 1; side < 2 * std::max(all.m, all.n); side *= 4) {
    add(all.m, side);
    add(side, all.n);
  }
  return result;
}

/// The best mapping so far, of equal times the one with less HBM traffic, then the first.
struct Best {
  std::optional<MatmulMapping> mapping;
  double seconds = 0;
  Bytes hbm{};

  void offer(const Job& job, const MatmulMapping& candidate) {
    const OperatorTimes times = matmul_times(*job.chip, *job.op, {candidate, {}, job.tensor_cores, job.vector_cores});
    const double time = times.total.count();
    if (mapping && (time > seconds || (time == seconds && times.hbm_bytes >= hbm))) return;
    mapping = candidate;
    seconds = time;
    hbm = times.hbm_bytes;
  }
};

/// The mapping with as many buffers as fit the global buffer, `wanted` at most.
MatmulMapping with_buffers(const Job& job, MatmulMapping mapping, std::int64_t wanted) {
  while (mapping.double_buffer && mapping.buffers < wanted) {
    ++mapping.buffers;
    if (global_buffer_needed(*job.op, mapping, job.tensor_cores.count) <= job.chip->glb.capacity) continue;
    --mapping.buffers;
    break;
  }
  return mapping;
}

void offer_orders(const Job& job, MatmulMapping mapping, Best& best) {
  if (global_buffer_needed(*job.op, mapping, job.tensor_cores.count) > job.chip->glb.capacity) return;
  const LoopTrips trips = loop_trips(*job.op, mapping);
  // Where a block has fewer tasks than there are cores several must be under way; more loads at once also reach more of
  // HBM's bandwidth. Buffers that are not needed cost nothing.
  const std::int64_t for_cores = ceil_div(job.tensor_cores.count, tasks_per_block(*job.op, mapping)) + 1;
  MatmulMapping candidate = with_buffers(job, mapping, std::clamp<std::int64_t>(for_cores, 8, 64));
  candidate.order = {Dim::m, Dim::n, Dim::k};
  best.offer(job, candidate);
  if (trips.blocks.m > 1 && trips.blocks.n > 1) {
    candidate.order = {Dim::n, Dim::m, Dim::k};
    best.offer(job, candidate);
  }
}

void offer_blocks(const Job& job, const TileCandidate& candidate, Best& best) {
  const MatmulShape& shape = job.op->matmul;
  MatmulMapping mapping = whole_problem(job, candidate);
  const std::int64_t step = candidate.tile.k * candidate.split_k;
  std::vector<std::int64_t> depths{shape.k};
  for (const std::int64_t steps : {1, 4, 16}) {
    if (checked_product(step, steps) < shape.k) add_unique(depths, step * steps);
  }
  for (const Grid& grid : grids(job, candidate)) {
    mapping.block.m = std::min(shape.m, grid.m * candidate.tile.m);
    mapping.block.n = std::min(shape.n, grid.n * candidate.tile.n);
    for (const std::int64_t depth : depths) {
      mapping.block.k = depth;
      mapping.buffers = 2;
      offer_orders(job, mapping, best);
    }
  }
}

/// More and shorter tiles on their way to a core hide more latency.
void offer_shorter_tiles(const Job& job, Best& best) {
  const MatmulMapping found = *best.mapping;
  const std::int64_t depth = std::min(found.block.k, ceil_div(job.op->matmul.k, found.split_k));
  const std::int64_t steps = ceil_div(depth, found.tile.k);
  for (const std::int64_t finer : {2, 4}) {
    MatmulMapping mapping = found;
    mapping.tile.k = even_k(job, found.tile.k, depth, steps * finer);
    best.offer(job, mapping);
  }
}

/// Which buffer is too small for even the least of tiles.
[[noreturn]] void refuse(const Job& job) {
  MatmulMapping least;
  least.block = least.tile = {1, 1, 1};
  least.double_buffer = false;
  const Bytes local = local_buffer_needed(*job.op, least);
  const bool is_local = local > job.chip->tensor.local_buffer;
  const Bytes need = is_local ? local : global_buffer_needed(*job.op, least, job.tensor_cores.count);
  const Bytes have = is_local ? job.chip->tensor.local_buffer : job.chip->glb.capacity;
  throw InfeasibleError("operator " + job.op->name + ": no tile fits the " +
                        (is_local ? "tensor cores' local buffer" : "global buffer") + " of " + job.chip->name +
                        ": at least " + std::to_string(need.value()) + " bytes needed, " +
                        std::to_string(have.value()) + " there");
}

}  // namespace

std::vector<OutputTile> output_tile_candidates(const Chip& chip, const MatmulShape& shape, std::int64_t least) {
  const TensorCores& cores = chip.tensor;
  std::vector<OutputTile> tiles = output_tiles(cores.tiles).value_or(std::vector<OutputTile>{});
  if (!tiles.empty()) return tiles;
  for (const std::int64_t m : tile_extents(shape.m, cores.rows, least)) {
    for (const std::int64_t n : tile_extents(shape.n, cores.cols, least)) tiles.push_back({m, n});
  }
  return tiles;
}

MatmulMapping map_matmul(const Chip& chip, const Operator& op, CoreRange tensor_cores, CoreRange vector_cores) {
  const Job job{&chip, &op, tensor_cores, vector_cores};
  Best best;
  for (const std::int64_t least : {kLeastTile, std::int64_t{1}}) {
    for (const bool double_buffer : {true, false}) {
      for (const TileCandidate& candidate : tile_candidates(job, least, double_buffer)) {
        if (best.mapping && candidate.bound >= best.seconds) continue;
        offer_blocks(job, candidate, best);
      }
      if (!best.mapping) continue;
      if (double_buffer && job.chip->tensor.tiles.empty()) offer_shorter_tiles(job, best);
      return *best.mapping;
    }
  }
  refuse(job);
}

}  // namespace tandem
