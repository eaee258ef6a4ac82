// SPDX-License-Identifier: Apache-2.0
#include "tests/property/cluster/random_cases.h"

#include <fmt/format.h>

#include <random>

namespace tandem::testing {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t number(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + number(0, static_cast<std::int64_t>(list.size()) - 1));
  }

 private:
  std::mt19937_64 engine_;
};

Level random_level(Dice& dice, std::int64_t members) {
  const auto kind =
      dice.one_of({LevelKind::ring, LevelKind::switched, LevelKind::fully_connected, LevelKind::fat_tree});
  Level level = make_level(kind, {members}, static_cast<double>(dice.number(1, 300)) * 1e9,
                           Seconds(static_cast<double>(dice.number(0, 5000)) * 1e-9));
  level.links = dice.one_of<std::int64_t>({1, 2, 4});
  level.links_per_message = dice.number(1, level.links);
  if (kind == LevelKind::fat_tree) level.oversubscription = dice.one_of({1.0, 2.0});
  return level;
}

Degrees random_degrees(Dice& dice) {
  Degrees degrees;
  degrees.tp = dice.one_of<std::int64_t>({1, 1, 2, 4});
  degrees.pp = dice.one_of<std::int64_t>({1, 2, 3, 4});
  degrees.dp = degrees.tp * degrees.pp > 8 ? 1 : dice.number(1, 2);
  std::int64_t microbatches = dice.number(1, 6);
  degrees.schedule =
      dice.one_of({PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved});
  if (degrees.schedule == PipelineSchedule::interleaved) {
    degrees.virtual_stages = dice.number(1, 2);
    microbatches = degrees.pp * dice.number(1, 2);
  }
  degrees.global_batch = degrees.dp * microbatches;
  return degrees;
}

Step random_call(Dice& dice, Axis axis, std::int64_t most_bytes) {
  return call(axis,
              dice.one_of({CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                           CollectiveKind::all_to_all}),
              dice.number(0, most_bytes),
              dice.one_of({CollectiveAlgorithm::automatic, CollectiveAlgorithm::ring,
                           CollectiveAlgorithm::bidirectional_ring, CollectiveAlgorithm::direct}));
}

Picoseconds random_time(Dice& dice) { return Picoseconds(dice.number(0, 300'000'000)); }

}  // namespace

RandomCase random_case(std::uint64_t seed) {
  Dice dice(seed);
  const Degrees degrees = random_degrees(dice);
  const std::int64_t devices = degrees.tp * degrees.pp * degrees.dp;
  std::vector<Level> levels;
  const std::int64_t inner = dice.one_of({devices, degrees.tp, degrees.tp * degrees.dp});
  levels.push_back(random_level(dice, inner));
  if (inner < devices) levels.push_back(random_level(dice, devices / inner));
  RandomCase built{make_cluster(std::move(levels)),
                   make_case(degrees, random_time(dice), random_time(dice), dice.number(1, 3)), ""};
  built.cluster.overhead = {.collective = Seconds(static_cast<double>(dice.number(0, 20)) * 1e-6),
                            .step = Seconds(static_cast<double>(dice.number(0, 3000)) * 1e-9),
                            .send = Seconds(static_cast<double>(dice.number(0, 10)) * 1e-6)};
  Program& program = built.work.program;
  send_between_stages(program, dice.number(0, 10'000'000));
  LayerProgram& layer = program.layers[0];
  layer.forward.push_back(random_call(dice, Axis::tensor, 5'000'000));
  layer.backward.insert(layer.backward.begin(), random_call(dice, Axis::tensor, 5'000'000));
  for (StageProgram& stage : program.stages) {
    stage.layers[0].count = dice.number(1, 3);
    if (dice.number(0, 1) == 0) {
      stage.after.insert(stage.after.begin(), random_call(dice, Axis::data, 50'000'000));
    } else {
      stage.gradient_buckets.assign(static_cast<std::size_t>(dice.number(1, 4)), Bytes(dice.number(0, 20'000'000)));
    }
  }
  built.text = fmt::format("seed {}: tp {} pp {} dp {} batch {} {} x{}", seed, degrees.tp, degrees.pp, degrees.dp,
                           degrees.global_batch, name_of(degrees.schedule), degrees.virtual_stages);
  return built;
}

RandomCase uncontended_case(std::uint64_t seed) {
  Dice dice(seed);
  Degrees degrees{.tp = dice.one_of<std::int64_t>({1, 2, 4}), .pp = dice.number(3, 5)};
  degrees.global_batch = dice.number(1, 8);
  degrees.schedule = dice.one_of({PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b});
  Level between = make_level(LevelKind::ring, {degrees.pp}, static_cast<double>(dice.number(1, 100)) * 1e9,
                             Seconds(static_cast<double>(dice.number(0, 5000)) * 1e-9));
  between.links = degrees.tp;
  RandomCase built{make_cluster({make_level(LevelKind::switched, {degrees.tp}, 100e9, 1us), between}),
                   make_case(degrees, random_time(dice), random_time(dice), dice.number(1, 3)), ""};
  send_between_stages(built.work.program, dice.number(1, 20'000'000));
  // A ring: its messages never meet, and no other algorithm may be chosen for faster links.
  built.work.program.layers[0].forward.push_back(
      call(Axis::tensor, CollectiveKind::all_reduce, dice.number(0, 5'000'000), CollectiveAlgorithm::ring));
  built.text = fmt::format("seed {}: tp {} pp {} batch {}", seed, degrees.tp, degrees.pp, degrees.global_batch);
  return built;
}

}  // namespace tandem::testing
