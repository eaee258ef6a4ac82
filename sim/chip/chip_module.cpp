// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/chip_module.h"

#include <fmt/format.h>
#include <algorithm>

#include "sim/chip/matmul_lowering.h"
#include "sim/chip/vector_lowering.h"

namespace tandem::sim {
namespace {

/// One word of every bank.
constexpr Bytes kBankWord{32};

bool overlaps(const CoreRange& a, const CoreRange& b) {
  return a.first < b.first + b.count && b.first < a.first + a.count;
}

Picoseconds round_trip(const Chip& chip) {
  const HbmTiming& timing = chip.hbm.timing;
  return to_picoseconds(timing.trp + timing.trcd + timing.tcl + chip.glb.latency);
}

template <typename T>
std::vector<T*> pointers(const std::vector<std::unique_ptr<T>>& items, const CoreRange& range) {
  std::vector<T*> result;
  for (std::int64_t i = range.first; i < range.first + range.count; ++i) {
    result.push_back(items[static_cast<std::size_t>(i)].get());
  }
  return result;
}

std::int32_t unit_at(const std::vector<std::int32_t>& units, std::size_t index) {
  return index < units.size() ? units[index] : -1;
}

}  // namespace

ChipModule::ChipModule(sc_core::sc_module_name name, const Chip& chip, const Slice& slice,
                       const SimulationOptions& options, const ChipTrace& trace, BuildOrder build_order)
    : sc_module(name),
      chip_(chip),
      slice_(slice),
      options_(options),
      trace_(trace),
      build_order_(build_order),
      order_(schedule_order(slice)) {
  for (const std::int32_t op : order_) trace_ids_.push_back(trace.first_operator + op);
  build_memory();
  build_stacks();
  build_dma();
  build_cores();
  build_folder();
  build_commands();
}

template <typename Build>
void ChipModule::each(std::int64_t count, Build build) const {
  for (std::int64_t i = 0; i < count; ++i) {
    build(static_cast<std::size_t>(build_order_ == BuildOrder::forward ? i : count - 1 - i));
  }
}

Tracer ChipModule::tracer(Detail from, std::int32_t unit) const {
  if (trace_.sink == nullptr || options_.detail < from) return {};
  return {trace_.sink, unit, &trace_ids_, trace_.offset};
}

void ChipModule::build_memory() {
  const bool ideal_noc = options_.ideal.noc;
  GlobalBuffer::Spec buffer;
  buffer.capacity = chip_.glb.capacity;
  buffer.row = kBankWord * std::max<std::int64_t>(1, chip_.glb.banks);
  if (!ideal_noc) {
    buffer.rate = Rate(chip_.glb.bandwidth);
    buffer.latency = to_picoseconds(chip_.glb.latency);
  }
  buffer_ = std::make_unique<GlobalBuffer>("global_buffer", buffer);
}

void ChipModule::build_stacks() {
  const Hbm& hbm = chip_.hbm;
  const auto channels = static_cast<std::size_t>(hbm.channels_per_stack);
  hbm_.resize(static_cast<std::size_t>(hbm.stacks));
  each(hbm.stacks, [&](std::size_t stack) {
    HbmStack::Spec spec;
    for (std::size_t channel = 0; channel < channels; ++channel) {
      const std::size_t index = stack * channels + channel;
      spec.channels.push_back(options_.ideal.hbm ? HbmChannelSpec{}
                                                 : make_channel_spec(hbm, static_cast<std::int64_t>(index)));
      spec.tracers.push_back(tracer(Detail::transaction, unit_at(trace_.units.hbm_channels, index)));
    }
    if (spec.tracers.front().sink == nullptr) spec.tracers.clear();
    hbm_[stack] = std::make_unique<HbmStack>(fmt::format("hbm{}", stack).c_str(), std::move(spec));
  });
}

void ChipModule::build_dma() {
  DmaEngine::Spec dma;
  dma.setup = options_.ideal.hbm ? Picoseconds(0) : to_picoseconds(chip_.dma.setup);
  if (!options_.ideal.hbm && chip_.dma.max_outstanding.value() > 0 && round_trip(chip_).count() > 0) {
    dma.window_rate = Rate(chip_.dma.max_outstanding / to_seconds(round_trip(chip_)));
  }
  std::vector<MemoryPort*> ports;
  for (const auto& stack : hbm_) ports.push_back(stack.get());
  dma_.resize(static_cast<std::size_t>(chip_.dma.engines));
  each(chip_.dma.engines, [&](std::size_t engine) {
    const Tracer trace = tracer(Detail::tile, unit_at(trace_.units.dma_engines, engine));
    dma_[engine] = std::make_unique<DmaEngine>(fmt::format("dma{}", engine).c_str(), dma, ports, *buffer_, trace);
  });
}

void ChipModule::build_cores() {
  Noc::Spec noc;
  noc.ports = static_cast<std::size_t>(chip_.tensor.count + chip_.vector.count);
  if (!options_.ideal.noc) {
    noc.port_rate = Rate(chip_.noc.port_bandwidth);
    noc.latency = to_picoseconds(chip_.noc.latency);
  }
  noc_ = std::make_unique<Noc>("noc", noc, *buffer_, tracer(Detail::tile, trace_.units.noc));
  tensor_.resize(static_cast<std::size_t>(chip_.tensor.count));
  vector_.resize(static_cast<std::size_t>(chip_.vector.count));
  each(chip_.tensor.count, [&](std::size_t i) {
    const TensorCore::Spec spec{i};
    tensor_[i] = std::make_unique<TensorCore>(fmt::format("tensor_core{}", i).c_str(), spec, *noc_,
                                              tracer(Detail::tile, unit_at(trace_.units.tensor_cores, i)));
  });
  each(chip_.vector.count, [&](std::size_t i) {
    const VectorCore::Spec spec{tensor_.size() + i};
    vector_[i] = std::make_unique<VectorCore>(fmt::format("vector_core{}", i).c_str(), spec, *noc_,
                                              tracer(Detail::tile, unit_at(trace_.units.vector_cores, i)));
  });
}

void ChipModule::build_folder() {
  // A trace shows every tile.
  const bool traces_tiles = trace_.sink != nullptr && options_.detail >= Detail::tile;
  if (options_.fold == Fold::off || traces_tiles) return;
  folder_ = std::make_unique<TileFolder>("tile_folder", pointers(tensor_, {0, chip_.tensor.count}), *buffer_, *noc_);
  for (const auto& core : tensor_) core->set_folder(folder_.get());
}

std::int64_t ChipModule::activations() const {
  std::int64_t sum = commands_->activations() + buffer_->stats().activations;
  const auto add = [&sum](const auto& parts) {
    for (const auto& part : parts) sum += part->stats().activations;
  };
  add(hbm_);
  add(dma_);
  add(tensor_);
  add(vector_);
  return sum;
}

RunResources ChipModule::resources(std::size_t position) const {
  const Mapping& mapping = slice_.mappings[static_cast<std::size_t>(order_[position])];
  RunResources result;
  result.noc = noc_.get();
  for (const auto& engine : dma_) result.dma.push_back(engine.get());
  const Operator& op = slice_.graph.operators[static_cast<std::size_t>(order_[position])];
  if (is_matmul(op.kind)) result.tensor_cores = pointers(tensor_, mapping.tensor_cores);
  result.vector_cores = pointers(vector_, mapping.vector_cores);
  result.mailbox = commands_.get();
  return result;
}

CommandProcessor::Command ChipModule::command(std::size_t position) const {
  const auto index = static_cast<std::size_t>(order_[position]);
  const Operator& op = slice_.graph.operators[index];
  const Mapping& mapping = slice_.mappings[index];
  CommandProcessor::Command command;
  command.name = op.name;
  command.is_matmul = is_matmul(op.kind);
  command.vector_cores = mapping.vector_cores;
  if (command.is_matmul) command.tensor_cores = mapping.tensor_cores;
  const Seconds launch = command.is_matmul ? chip_.launch.device_tensor : chip_.launch.device_vector;
  if (!options_.ideal.launch) command.launch = to_picoseconds(launch);
  if (command.is_matmul) {
    const MatmulMapping& tiling = mapping.matmul;
    command.global_buffer = tandem::global_buffer_needed(op, tiling, mapping.tensor_cores.count);
    const LocalRoom room = local_room(chip_, op, tiling);
    command.tensor.accumulator_sets = room.accumulator_sets;
    command.tensor.room = room.inputs;
    command.tensor.depth = tiling.double_buffer ? kMostTiles : 1;
  } else {
    const VectorLowering lowering(chip_, op, mapping);
    command.global_buffer = lowering.global_buffer_needed();
    command.vector.room = chip_.vector.local_buffer;
  }
  return command;
}

void ChipModule::build_commands() {
  std::vector<std::int32_t> position_of(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i)
    position_of[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
  std::vector<CommandProcessor::Command> commands;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    commands.push_back(command(i));
    for (std::size_t j = 0; j < i; ++j) {
      if (overlaps(commands[i].tensor_cores, commands[j].tensor_cores) ||
          overlaps(commands[i].vector_cores, commands[j].vector_cores)) {
        commands[i].after.push_back(static_cast<std::int32_t>(j));
      }
    }
  }
  for (const OperatorGraph::Edge& edge : slice_.graph.edges) {
    commands[static_cast<std::size_t>(position_of[static_cast<std::size_t>(edge.to)])].after.push_back(
        position_of[static_cast<std::size_t>(edge.from)]);
  }
  commands_ = std::make_unique<CommandProcessor>("command_processor", std::move(commands), *buffer_,
                                                 tracer(Detail::operators, trace_.units.command_processor));
  commands_->set_watch(options_.cancelled, options_.progress);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto index = static_cast<std::size_t>(order_[i]);
    const Operator& op = slice_.graph.operators[index];
    const Mapping& mapping = slice_.mappings[index];
    OperatorRun::Spec spec;
    spec.position = static_cast<std::int32_t>(i);
    spec.is_matmul = is_matmul(op.kind);
    std::unique_ptr<Lowering> lowering;
    if (spec.is_matmul) {
      spec.depth = blocks_at_once(mapping.matmul);
      spec.split_k = mapping.matmul.split_k;
      lowering = std::make_unique<MatmulLowering>(chip_, op, mapping);
    } else {
      lowering = std::make_unique<VectorLowering>(chip_, op, mapping);
    }
    const RunResources used = resources(i);
    commands_->add_run(std::make_unique<OperatorRun>(spec, std::move(lowering), used), used);
  }
}

}  // namespace tandem::sim
