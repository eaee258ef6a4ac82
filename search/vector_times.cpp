// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "search/cause_seconds.h"
#include "search/hbm_rate.h"
#include "search/operator_times.h"
#include "workloads/vector_work.h"

namespace tandem {
namespace {

struct Volume {
  double hbm_in = 0, hbm_out = 0, core_in = 0, core_out = 0;
};

Volume volume(const Operator& op, int reads_of_row) {
  Volume v;
  const auto add = [](const std::vector<Operand>& operands, double& hbm, double& core) {
    for (const Operand& operand : operands) {
      const auto bytes = static_cast<double>(operand.bytes.value());
      if (operand.where == Residency::hbm) hbm += bytes;
      if (operand.where != Residency::core) core += bytes;
    }
  };
  add(op.inputs, v.hbm_in, v.core_in);
  add(op.outputs, v.hbm_out, v.core_out);
  for (const FusedWork& work : op.epilogue) {
    v.hbm_in += static_cast<double>(work.extra_read.value());
    v.core_in += static_cast<double>(work.extra_read.value());
    v.hbm_out += static_cast<double>(work.extra_write.value());
    v.core_out += static_cast<double>(work.extra_write.value());
  }
  v.core_in *= reads_of_row;
  return v;
}

Seconds over(double bytes, Bandwidth rate) { return rate.value() > 0 ? Seconds(bytes / rate.value()) : Seconds(0); }

Cycles tile_cycles_of(const Chip& chip, const Operator& op, const VectorShape& shape) {
  Cycles cycles = vector_cycles(chip.vector, op.kind, op.pass, shape);
  for (const FusedWork& work : op.epilogue) cycles += vector_cycles(chip.vector, work.kind, work.pass, shape);
  return cycles;
}

/// Lanes at work all the time, every class of operation at its own rate.
double lane_seconds(const Chip& chip, const Operator& op) {
  double operations = 0;
  const auto add = [&](OperatorKind kind, Pass pass, const VectorShape& shape) {
    const auto per_element = vector_work(kind, pass).per_element;
    const auto elements = static_cast<double>(checked_product(shape.rows, shape.cols));
    for (std::size_t i = 0; i < kVectorOps; ++i) {
      if (per_element[i] > 0) operations += elements * per_element[i] / chip.vector.throughput[i];
    }
  };
  add(op.kind, op.pass, op.vector);
  for (const FusedWork& work : op.epilogue) add(work.kind, work.pass, work.shape);
  return operations / (static_cast<double>(chip.vector.count * chip.vector.lanes) * chip.clock.value());
}

/// Extents along one dimension: whole tiles and the edge.
struct Cut {
  std::int64_t tile = 0, whole = 0, edge = 0;
  [[nodiscard]] std::int64_t count() const { return whole + (edge > 0 ? 1 : 0); }
};
Cut cut(std::int64_t extent, std::int64_t tile) {
  const std::int64_t size = tile > 0 ? std::min(tile, extent) : extent;
  return {size, extent / size, extent % size};
}

}  // namespace

OperatorTimes vector_times(const Chip& chip, const Operator& op, const Mapping& mapping) {
  const VectorMapping& tiling = mapping.vector;
  const std::int64_t cores = std::max<std::int64_t>(1, mapping.vector_cores.count);
  const Cut rows = cut(op.vector.rows, tiling.rows_per_tile);
  const Cut cols = cut(op.vector.cols, tiling.cols_per_tile);
  const std::int64_t tiles = checked_product(rows.count(), cols.count());
  const Volume v = volume(op, tiling.reads_of_row);

  double cycles = 0;
  for (const auto& [r, r_count] : {std::pair{rows.tile, rows.whole}, std::pair{rows.edge, std::int64_t{1}}}) {
    for (const auto& [c, c_count] : {std::pair{cols.tile, cols.whole}, std::pair{cols.edge, std::int64_t{1}}}) {
      if (r == 0 || c == 0) continue;
      cycles += static_cast<double>(tile_cycles_of(chip, op, {r, c}).value()) * static_cast<double>(r_count * c_count);
    }
  }
  const double all_tiles = static_cast<double>(tiles);
  const double waves = static_cast<double>(ceil_div(tiles, cores));
  const Seconds per_tile = std::max(Seconds(cycles / all_tiles / chip.clock.value()),
                                    over((v.core_in + v.core_out) / all_tiles, chip.vector.local_bandwidth));
  // Two tiles stand in a core at once: one comes over the NoC while the other computes.
  const Seconds arrival =
      v.core_in > 0 ? chip.noc.latency + chip.glb.latency + over(v.core_in / all_tiles, chip.noc.port_bandwidth)
                    : Seconds(0);
  const Seconds compute = per_tile * waves;
  const Seconds latency_bound = (per_tile + arrival) / 2 * waves;

  const double bytes = v.hbm_in + v.hbm_out;
  // Loads and stores go in pieces large enough to keep HBM streaming; the first and the last are not hidden.
  constexpr double kPiece = 256 * 1024;
  const double piece = std::max(kPiece / std::max(1.0, bytes), std::min(1.0, static_cast<double>(cores) / all_tiles));
  const double ends = std::min(1.0, piece);
  // Two pieces at once: the present one and the next.
  const Bandwidth memory_rate = sustained_bandwidth(chip, 2 * ends * bytes);
  const Seconds first = over(v.hbm_in * ends, memory_rate);
  const Seconds last = over(v.hbm_out * ends, memory_rate);
  const double pieces = bytes > 0 ? 2 / ends : 0;
  const Seconds memory = std::max(
      Seconds(0), over(bytes, memory_rate) - first - last +
                      chip.dma.setup * pieces / static_cast<double>(std::max<std::int64_t>(1, chip.dma.engines)));
  const double busiest = waves / all_tiles;
  const Seconds noc = std::max(over(std::max(v.core_in, v.core_out) * busiest, chip.noc.port_bandwidth),
                               over(std::max(v.core_in + v.hbm_out, v.core_out + v.hbm_in), chip.glb.bandwidth));

  OperatorTimes times;
  CauseSeconds& part = times.part;
  at(part, Cause::launch) = chip.launch.device_vector.count();
  Seconds latency{};
  if (v.hbm_in > 0) latency += chip.dma.setup + hbm_latency(chip.hbm);
  if (v.hbm_out > 0) latency += chip.dma.setup + hbm_latency(chip.hbm);
  add_memory(part, first + last + latency, Seconds(bytes * ends / chip.hbm.bandwidth.value()));
  const Seconds hop = chip.noc.latency + chip.glb.latency;
  if (v.core_in > 0) at(part, Cause::noc) += (hop + over(v.core_in / all_tiles, chip.noc.port_bandwidth)).count();
  if (v.core_out > 0) at(part, Cause::noc) += (hop + over(v.core_out / all_tiles, chip.noc.port_bandwidth)).count();
  const Seconds slowest = std::max({compute, memory, noc, latency_bound});
  if (slowest == compute) {
    at(part, Cause::vector_compute) += compute.count();
  } else if (slowest == memory) {
    add_memory(part, memory, Seconds(bytes * (1 - ends) / chip.hbm.bandwidth.value()));
  } else {
    at(part, Cause::noc) += slowest.count();
  }
  times.total = sum(part);
  times.utilisation_seconds = lane_seconds(chip, op);
  const auto whole = [](double value) { return Bytes(static_cast<std::int64_t>(value + 0.5)); };
  times.hbm_bytes = whole(bytes);
  times.accesses.vector_operations = op.vector_flops().value();
  times.accesses.hbm = times.hbm_bytes;
  times.accesses.noc = whole(v.core_in + v.core_out);
  times.accesses.global = whole(v.core_in + v.core_out + bytes);
  times.accesses.local = whole(2 * (v.core_in + v.core_out));
  return times;
}

}  // namespace tandem
