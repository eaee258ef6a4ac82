// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "search/cause_seconds.h"
#include "search/hbm_rate.h"
#include "search/operator_times.h"

namespace tandem {
namespace {

Operand operand(const std::vector<Operand>& operands, std::size_t index) {
  return index < operands.size() ? operands[index] : Operand{};
}

/// Blocks of an operand: how many there are and how often they change.
struct OperandBlocks {
  double bytes = 0;  ///< of one block, in HBM
  double moves = 0;  ///< loads, or stores
};

struct Volumes {
  MatmulTraffic traffic;
  Bytes extra_read{}, extra_write{};
  OperandBlocks a, b, c;
};

Volumes volumes(const Chip& chip, const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  Volumes v;
  v.traffic = matmul_traffic(op, mapping, chip.noc, cores);
  for (const FusedWork& work : op.epilogue) {
    v.extra_read += work.extra_read;
    v.extra_write += work.extra_write;
  }
  const LoopTrips trips = loop_trips(op, mapping);
  const auto count = [&](std::int64_t i, std::int64_t j) {
    return static_cast<double>(checked_product(trips.batch, i, j));
  };
  const Operand a = operand(op.inputs, 0);
  const Operand b = operand(op.inputs, 1);
  const Operand c = operand(op.outputs, 0);
  const double a_blocks = count(trips.blocks.m, trips.blocks.k);
  const double b_blocks = count(trips.blocks.k, trips.blocks.n);
  const double c_blocks = count(trips.blocks.m, trips.blocks.n);
  const auto blocks = [&](const Operand& which, double count_of, Dim unrelated) {
    if (which.where != Residency::hbm) return OperandBlocks{};
    const auto times = static_cast<double>(passes_over(op, mapping, unrelated));
    return OperandBlocks{static_cast<double>(which.bytes.value()) / count_of, count_of * times};
  };
  v.a = blocks(a, a_blocks, Dim::n);
  v.b = blocks(b, b_blocks, Dim::m);
  v.c = blocks(c, c_blocks, Dim::k);
  return v;
}

/// What each resource needs for the whole operator, each as if alone.
struct Needs {
  Seconds load{};        ///< of memory, operands of blocks
  Seconds memory{};      ///< HBM at its sustained rate, with the set-up of every transfer
  Seconds noc{};         ///< busiest of the core ports and the global buffer's two directions
  Seconds vector{};      ///< epilogue and reduction of split K
  Seconds first_load{};  ///< operands of the first block into the global buffer
  Seconds last_store{};
  double first_bytes = 0, last_bytes = 0;
};

Seconds over(double bytes, Bandwidth rate) { return rate.value() > 0 ? Seconds(bytes / rate.value()) : Seconds(0); }

Seconds epilogue_seconds(const Chip& chip, const Operator& op, const MatmulMapping& mapping, std::int64_t cores) {
  Cycles cycles{};
  for (const FusedWork& work : op.epilogue) cycles += vector_cycles(chip.vector, work.kind, work.pass, work.shape);
  if (mapping.split_k > 1) {
    cycles += vector_cycles(
        chip.vector, OperatorKind::residual_add, Pass::forward,
        {checked_product(op.matmul.batch, op.matmul.m), checked_product(op.matmul.n, mapping.split_k - 1)});
  }
  return cycles / chip.clock / static_cast<double>(std::max<std::int64_t>(1, cores));
}

/// Bytes asked for at once: of each operand that changes from block to block all its buffers, at most the whole
/// operand.
double bytes_in_flight(const Operator& op, const MatmulMapping& mapping, const Volumes& v) {
  const LoopTrips trips = loop_trips(op, mapping);
  const auto buffers = static_cast<double>(blocks_at_once(mapping));
  const auto held = [&](double block, std::int64_t rows, std::int64_t cols) {
    return block * std::min(buffers, static_cast<double>(checked_product(trips.batch, rows, cols)));
  };
  return held(v.a.bytes, trips.blocks.m, trips.blocks.k) + held(v.b.bytes, trips.blocks.k, trips.blocks.n);
}

Needs needs(const Chip& chip, const Operator& op, const Mapping& mapping, const Volumes& v) {
  const MatmulMapping& matmul = mapping.matmul;
  const auto value = [](Bytes bytes) { return static_cast<double>(bytes.value()); };
  const Bandwidth memory = sustained_bandwidth(chip, bytes_in_flight(op, matmul, v));
  const double read = value(v.traffic.hbm_read + v.extra_read);
  const double write = value(v.traffic.hbm_write + v.extra_write);
  const double transfers = v.a.moves + v.b.moves + v.c.moves;
  Needs n;
  n.memory = over(read + write, memory) +
             chip.dma.setup * transfers / static_cast<double>(std::max<std::int64_t>(1, chip.dma.engines));
  n.load = over(value(v.traffic.hbm_read), memory);
  n.vector = epilogue_seconds(chip, op, matmul, mapping.vector_cores.count);

  const std::int64_t cores = mapping.tensor_cores.count;
  const std::int64_t tasks = task_count(op, matmul, cores);
  const double busiest = static_cast<double>(ceil_div(tasks, cores)) / static_cast<double>(tasks);
  const double port = std::max(value(v.traffic.port_read), value(v.traffic.port_write)) * busiest;
  const double buffer_read = value(v.traffic.core_read + v.extra_read) + write;
  const double buffer_write = value(v.traffic.core_write + v.extra_write) + read;
  n.noc = std::max(over(port, chip.noc.port_bandwidth), over(std::max(buffer_read, buffer_write), chip.glb.bandwidth));

  n.first_bytes = v.a.bytes + v.b.bytes;
  n.first_load = over(n.first_bytes, memory);
  const double c_blocks = std::max(1.0, v.c.moves);
  n.last_bytes = v.c.bytes + value(v.extra_write) / c_blocks;
  n.last_store = over(n.last_bytes, memory);
  return n;
}

/// Reaching the first tile and leaving the last: latencies and one tile's way over the NoC.
struct Ends {
  Seconds memory{}, noc{}, vector{};
};

/// A block holds its buffer while it loads, waits and computes: with few tasks in a block, or few blocks at once, cores
/// stand idle however fast everything is. Where outputs stay in the cores, the k blocks of one output block follow each
/// other on the same cores, so only as many output blocks are under way as the buffers reach over.
Seconds room_bound(const Operator& op, const Mapping& mapping, const ComputeTime& compute, const Needs& n,
                   const Ends& way) {
  const MatmulMapping& matmul = mapping.matmul;
  const LoopTrips trips = loop_trips(op, matmul);
  const std::int64_t cores = mapping.tensor_cores.count;
  const auto outputs = static_cast<double>(checked_product(trips.batch, trips.blocks.m, trips.blocks.n));
  const auto k_blocks = static_cast<double>(trips.blocks.k);
  const auto buffers = static_cast<double>(blocks_at_once(matmul));
  const auto waves = static_cast<double>(ceil_div(tasks_per_block(op, matmul), cores));
  // Its operands come, its results go; those of the first and the last block are counted elsewhere.
  const Seconds load = n.memory / (outputs * k_blocks) + way.memory + way.noc;
  const double share = needed_share(op, matmul);
  if (output_stays_in_core(op, matmul, cores)) {
    const double at_once = std::clamp(buffers / k_blocks, 1.0, outputs);
    const Seconds stay = compute.longest_task * (waves * share) + load * (k_blocks > buffers ? 0.0 : k_blocks);
    return stay * std::ceil(outputs / at_once) - load;
  }
  const double blocks = outputs * k_blocks;
  return (compute.longest_task * (waves * share) + load) * std::ceil(blocks / buffers) - load;
}

/// A tile holds its room in the core's local buffer from when it is asked for until it is computed: so many tiles stand
/// there at once as fit beside the partial sums.
Seconds latency_bound(const Chip& chip, const Operator& op, const Mapping& mapping, const Volumes& v,
                      const ComputeTime& compute, double tasks) {
  if (v.traffic.port_read.value() == 0) return Seconds(0);
  const LoopTrips trips = loop_trips(op, mapping.matmul);
  const auto steps = static_cast<double>(ceil_div(trips.tiles.k, mapping.matmul.split_k));
  const std::int64_t cores = mapping.tensor_cores.count;
  const double visits = output_stays_in_core(op, mapping.matmul, cores) ? static_cast<double>(trips.blocks.k) : 1.0;
  const double waves = std::ceil(tasks / static_cast<double>(cores));
  const double per_core = steps * visits * waves * needed_share(op, mapping.matmul);
  const Seconds arrival =
      chip.noc.latency + chip.glb.latency +
      over(static_cast<double>(v.traffic.port_read.value()) / (tasks * steps * visits), chip.noc.port_bandwidth);
  return (arrival * per_core + compute.occupied) / static_cast<double>(local_room(chip, op, mapping.matmul).tiles);
}

/// With one set of partial sums a core waits after every task until they have left.
Seconds results_leave(const Chip& chip, const Operator& op, const Mapping& mapping, const Volumes& v, double tasks) {
  if (local_room(chip, op, mapping.matmul).accumulator_sets > 1 || v.traffic.port_write.value() == 0) return Seconds(0);
  const std::int64_t cores = mapping.tensor_cores.count;
  const double waves = std::ceil(tasks / static_cast<double>(cores));
  const auto bytes = static_cast<double>(v.traffic.port_write.value()) / tasks;
  return (chip.noc.latency + chip.glb.latency + over(bytes, chip.noc.port_bandwidth)) * waves;
}

/// Whole waves go at the rate of memory or NoC, of which every task has an equal share; the tasks of a last wave that
/// is not whole take as long as a whole wave's to compute.
Seconds last_wave_bound(Seconds shared, const ComputeTime& compute, double tasks, double cores) {
  const double whole = std::floor(tasks / cores);
  if (whole * cores >= tasks) return Seconds(0);
  return shared * (whole * cores / tasks) + compute.total / (whole + 1);
}

/// What follows the last load: the tasks of its block compute all of the block's K. Operands that arrive in few large
/// blocks are computed late, however fast the cores.
Seconds after_last_load(const Operator& op, const MatmulMapping& mapping, std::int64_t cores,
                        const ComputeTime& compute) {
  const bool stays = output_stays_in_core(op, mapping, cores);
  const std::int64_t visits = stays ? loop_trips(op, mapping).blocks.k : 1;
  const auto per_core = static_cast<double>(ceil_div(tasks_per_block(op, mapping), cores));
  return std::min(compute.total, compute.longest_task * (per_core / static_cast<double>(visits)));
}

/// The parts of an output tile end together; then one vector core fetches and adds all of them.
void add_reduction(Ends& e, const Chip& chip, const Operator& op, const Mapping& mapping, double tasks) {
  const std::int64_t m = std::min(mapping.matmul.tile.m, op.matmul.m);
  const std::int64_t n = std::min(mapping.matmul.tile.n, op.matmul.n);
  const std::int64_t parts = mapping.matmul.split_k - 1;
  const double outputs = tasks / static_cast<double>(mapping.matmul.split_k);
  const double waves = std::ceil(outputs / static_cast<double>(std::max<std::int64_t>(1, mapping.vector_cores.count)));
  const auto fetched = static_cast<double>(checked_product(kPartialSum.value(), m, n, parts));
  const Cycles cycles =
      vector_cycles(chip.vector, OperatorKind::residual_add, Pass::forward, {m, checked_product(n, parts)});
  e.noc += chip.noc.latency + chip.glb.latency + over(fetched, chip.noc.port_bandwidth) * waves;
  e.vector += cycles / chip.clock * waves;
}

Ends ends(const Chip& chip, const Operator& op, const Mapping& mapping, const Volumes& v, const Needs& n,
          double tasks) {
  Ends e;
  if (n.first_bytes > 0) e.memory += chip.dma.setup + hbm_latency(chip.hbm);
  if (n.last_bytes > 0) e.memory += chip.dma.setup + hbm_latency(chip.hbm);
  const auto steps = std::max(1.0, std::ceil(static_cast<double>(op.matmul.k) /
                                             static_cast<double>(mapping.matmul.split_k * mapping.matmul.tile.k)));
  const double tile_in = static_cast<double>(v.traffic.port_read.value()) / (tasks * steps);
  const double tile_out = static_cast<double>(v.traffic.port_write.value()) / tasks;
  const Seconds hop = chip.noc.latency + chip.glb.latency;
  if (tile_in > 0) e.noc += hop + over(tile_in, chip.noc.port_bandwidth);
  if (tile_out > 0) e.noc += hop + over(tile_out, chip.noc.port_bandwidth);
  e.vector = n.vector * (static_cast<double>(std::max<std::int64_t>(1, mapping.vector_cores.count)) / tasks);
  if (mapping.matmul.split_k > 1) add_reduction(e, chip, op, mapping, tasks);
  return e;
}

void count_accesses(OperatorTimes& times, const Operator& op, const Volumes& v, const ComputeTime& compute) {
  AccessCounts& counts = times.accesses;
  counts.macs = op.matmul_flops().value() / 2;
  counts.vector_operations = op.vector_flops().value();
  counts.hbm = v.traffic.hbm_read + v.traffic.hbm_write + v.extra_read + v.extra_write;
  counts.noc = v.traffic.port_read + v.traffic.port_write + v.extra_read + v.extra_write;
  counts.global = v.traffic.core_read + v.traffic.core_write + v.extra_read + v.extra_write + counts.hbm;
  counts.local = compute.local + v.traffic.port_read + v.traffic.port_write;
  times.hbm_bytes = counts.hbm;
}

}  // namespace

OperatorTimes matmul_times(const Chip& chip, const Operator& op, const Mapping& mapping) {
  const std::int64_t cores = mapping.tensor_cores.count;
  const Volumes v = volumes(chip, op, mapping.matmul, cores);
  const Needs n = needs(chip, op, mapping, v);
  const ComputeTime compute = compute_time(chip, op, mapping.matmul, cores);
  const auto tasks = static_cast<double>(task_count(op, mapping.matmul, cores));
  const Ends e = ends(chip, op, mapping, v, n, tasks);
  const Seconds peak = op.matmul_flops() / chip.peak(op.dtype);
  const double memory_peak = chip.hbm.bandwidth.value();
  const double all_bytes =
      static_cast<double>((v.traffic.hbm_read + v.traffic.hbm_write + v.extra_read + v.extra_write).value());

  OperatorTimes times;
  CauseSeconds& part = times.part;
  at(part, Cause::launch) = chip.launch.device_tensor.count();
  // First load and last store.
  const double end_bytes = std::min(all_bytes, n.first_bytes + n.last_bytes);
  add_memory(part, n.first_load + n.last_store + e.memory, Seconds(end_bytes / memory_peak));
  at(part, Cause::noc) += e.noc.count();
  at(part, Cause::vector_compute) += e.vector.count();

  // Between them, the slowest.
  const Seconds last_tasks = after_last_load(op, mapping.matmul, cores, compute);
  const Seconds memory = std::max(Seconds(0), n.memory - n.first_load - n.last_store);
  const Seconds last_wave = last_wave_bound(std::max(memory, n.noc), compute, tasks, static_cast<double>(cores));
  const Seconds room = room_bound(op, mapping, compute, n, e);
  const bool overlaps = blocks_at_once(mapping.matmul) > 1;
  const Seconds noc = std::max(n.noc, latency_bound(chip, op, mapping, v, compute, tasks));
  const Seconds loads = std::max(Seconds(0), n.load - n.first_load) + last_tasks;
  const Seconds leave = results_leave(chip, op, mapping, v, tasks);
  const Seconds slowest = std::max({compute.total + leave, n.vector, memory, noc, room, last_wave, loads});
  const auto add_compute = [&](Seconds whole) {
    const double ideal = std::min(peak.count() / chip.tensor.sustained, whole.count());
    const double fill = std::min(compute.fill_drain.count(), whole.count() - ideal);
    at(part, Cause::compute) += ideal;
    at(part, Cause::fill_drain) += fill;
    at(part, Cause::tile_quantisation) += whole.count() - ideal - fill;
  };
  const Seconds memory_ideal((all_bytes - end_bytes) / memory_peak);
  if (!overlaps) {
    add_compute(compute.total);
    add_memory(part, memory, memory_ideal);
    at(part, Cause::noc) += noc.count();
    at(part, Cause::vector_compute) += n.vector.count();
  } else if (slowest == compute.total + leave) {
    add_compute(compute.total);
    at(part, Cause::noc) += leave.count();
  } else if (slowest == memory) {
    add_memory(part, memory, memory_ideal);
  } else if (slowest == noc) {
    at(part, Cause::noc) += noc.count();
  } else if (slowest == n.vector) {
    at(part, Cause::vector_compute) += n.vector.count();
  } else if (slowest == loads) {
    add_memory(part, loads - last_tasks, std::min(loads - last_tasks, memory_ideal));
    add_compute(last_tasks);
  } else if (slowest == last_wave) {
    const Seconds tail = compute.total / std::ceil(tasks / static_cast<double>(cores));
    at(part, Cause::tile_quantisation) += tail.count();
    if (memory >= n.noc) {
      add_memory(part, last_wave - tail, std::min(last_wave - tail, memory_ideal));
    } else {
      at(part, Cause::noc) += (last_wave - tail).count();
    }
  } else {
    add_compute(compute.total);
    at(part, Cause::buffer_stall) += (room - compute.total).count();
  }
  times.total = sum(part);
  times.utilisation_seconds = peak.count();
  count_accesses(times, op, v, compute);
  return times;
}

}  // namespace tandem
