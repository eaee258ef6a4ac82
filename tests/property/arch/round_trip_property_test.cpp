// SPDX-License-Identifier: Apache-2.0
// Resolved text of random chips and clusters reads back to the same values, to the last bit.
#include <gtest/gtest.h>

#include <random>

#include "arch/chip_fields.h"
#include "arch/config.h"

namespace tandem {
namespace {

/// Gives every field of a chip a random legal value.
class Randomiser {
 public:
  explicit Randomiser(std::uint32_t seed) : random_(seed) {}

  void operator()(std::string_view path, std::int64_t& field, const Check&, Presence) {
    field = path == "tensor_cores.rows" || path == "tensor_cores.cols" ? whole(1, 256) : whole(1, 5000);
  }
  void operator()(std::string_view path, Bytes& field, const Check&, Presence) {
    const std::int64_t least = path == "global_buffer.capacity" ? std::int64_t{1} << 40 : std::int64_t{1} << 20;
    field = path == "hbm.atom" || path == "hbm.timing.page" || path == "hbm.controller.interleave"
                ? Bytes(0)
                : Bytes(whole(least, 2 * least));
  }
  void operator()(std::string_view path, double& field, const Check&, Presence) {
    if (path.ends_with(".sustained") || path.ends_with(".misaligned")) {
      field = real(0.1, 1);
      return;
    }
    field = real(0.01, 100);
  }
  void operator()(std::string_view, bool& field, const Check&, Presence) { field = whole(0, 1) == 1; }
  template <NamedEnum T>
  void operator()(std::string_view, T& field, const Check&, Presence) {
    constexpr auto& values = EnumNames<T>::values;
    field = values[static_cast<std::size_t>(whole(0, static_cast<std::int64_t>(values.size()) - 1))].first;
  }
  void operator()(std::string_view path, std::string& field, const Check&, Presence) {
    if (path == "hbm.controller.mapping") {
      field = whole(0, 1) == 1 ? "row column bank bank_group channel" : "channel row bank_group bank column";
      return;
    }
    if (path == "tensor_cores.tiles") {
      field = whole(0, 1) == 1 ? "256x128 64x64" : "";
      return;
    }
    constexpr std::string_view kLetters = "aZ09 -_.:#'\"\\{}[]\t\xc3\xa9";
    field.clear();
    for (std::int64_t length = whole(0, 12); length > 0; --length) {
      const std::int64_t letter = whole(0, static_cast<std::int64_t>(kLetters.size()) - 2);
      field += letter == static_cast<std::int64_t>(kLetters.size()) - 2
                   ? std::string(kLetters.substr(kLetters.size() - 2))
                   : std::string(1, kLetters[static_cast<std::size_t>(letter)]);
    }
  }
  void operator()(std::string_view, Bandwidth& field, const Check&, Presence) { field = Bandwidth(real(1e9, 1e13)); }
  void operator()(std::string_view, Frequency& field, const Check&, Presence) { field = Frequency(real(1e8, 1e10)); }
  void operator()(std::string_view, Power& field, const Check&, Presence) { field = Power(real(0, 1000)); }
  void operator()(std::string_view path, Seconds& field, const Check&, Presence) {
    field = path.starts_with("hbm.timing") ? Seconds(0) : Seconds(real(0, 1e-3));
  }
  void operator()(std::string_view, std::map<DataType, double>& field, const Check&, Presence) {
    for (const auto& [type, name] : EnumNames<DataType>::values) {
      if (whole(0, 1) == 1 || type == DataType::bf16) field[type] = real(0.1, 8);
    }
  }
  void operator()(std::string_view, std::map<std::string, double>& field, const Check&, Presence) {
    if (whole(0, 1) == 1) field["softmax"] = real(0.1, 100);
  }
  void operator()(std::string_view, std::map<std::string, Seconds>& field, const Check&, Presence) {
    for (const std::string_view kind : kLaunchKinds) {
      if (whole(0, 1) == 1) field[std::string(kind)] = Seconds(real(0, 1e-3));
    }
  }

  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

 private:
  std::mt19937 random_;
};

Chip random_chip(Randomiser& random) {
  Chip chip;
  visit_chip_fields(chip, random);
  chip.hbm.atom = Bytes(random.whole(1, 4096));
  return chip;
}

/// Field by field, since text equal after two writings could hide a loss in the first.
struct Comparer {
  std::vector<std::string> left, right;
  std::vector<std::string>* out = &left;

  template <typename T>
  void operator()(std::string_view path, const T& field, const Check&, Presence) {
    if constexpr (std::is_same_v<T, double>) {
      out->push_back(fmt::format("{} {:a}", path, field));
    } else if constexpr (std::is_same_v<T, Seconds>) {
      out->push_back(fmt::format("{} {:a}", path, field.count()));
    } else if constexpr (requires { field.value(); }) {
      out->push_back(fmt::format("{} {:a}", path, static_cast<double>(field.value())));
    } else {
      out->push_back(fmt::format("{} {}", path, yaml_text(field)));
    }
  }
  template <typename K, typename V>
  void operator()(std::string_view path, const std::map<K, V>& entries, const Check& check, Presence presence) {
    for (const auto& [key, value] : entries) {
      (*this)(fmt::format("{}.{}", path, yaml_text(key)), value, check, presence);
    }
  }
};

void expect_same(const Chip& a, const Chip& b) {
  Comparer fields;
  visit_chip_fields(a, fields);
  fields.out = &fields.right;
  visit_chip_fields(b, fields);
  EXPECT_EQ(fields.left, fields.right);
}

TEST(RoundTrip, RandomChipsAreExact) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Randomiser random(seed);
    const Chip chip = random_chip(random);
    expect_same(chip, load_chip_text(to_yaml(chip), "random.yaml"));
    if (HasFailure()) FAIL() << "seed " << seed << "\n" << to_yaml(chip);
  }
}

Level random_level(Randomiser& random) {
  Level level;
  level.kind = EnumNames<LevelKind>::values[static_cast<std::size_t>(random.whole(0, 5))].first;
  const std::size_t dims = level.kind == LevelKind::torus2d ? 2 : level.kind == LevelKind::torus3d ? 3 : 1;
  for (std::size_t d = 0; d < dims; ++d) level.dims.push_back(random.whole(1, 9));
  level.name = fmt::format("level {}", random.whole(0, 99));
  level.links = random.whole(1, 18);
  level.links_per_message = random.whole(1, level.links);
  level.link_bandwidth = Bandwidth(random.real(1e9, 1e12));
  level.link_latency = Seconds(random.real(0, 1e-5));
  level.efficiency = random.real(0.1, 1);
  if (level.kind == LevelKind::fat_tree) level.oversubscription = random.real(1, 8);
  level.in_network_reduction = level.kind == LevelKind::switched;
  return level;
}

TEST(RoundTrip, RandomClustersAreExact) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Randomiser random(seed);
    Cluster cluster;
    cluster.name = "random";
    cluster.chip = random_chip(random);
    for (std::int64_t levels = random.whole(1, 3); levels > 0; --levels) cluster.levels.push_back(random_level(random));
    cluster.overhead = {Seconds(random.real(0, 1e-4)), Seconds(random.real(0, 1e-5)), Seconds(random.real(0, 1e-5))};
    cluster.iteration_overhead = Seconds(random.real(0, 1e-2));
    cluster.reserved_memory = Bytes(random.whole(0, 1 << 19));
    const Cluster back = load_cluster_text(to_yaml(cluster), "random.yaml");
    expect_same(cluster.chip, back.chip);
    EXPECT_EQ(to_yaml(back), to_yaml(cluster));
    ASSERT_EQ(back.levels.size(), cluster.levels.size());
    for (std::size_t l = 0; l < back.levels.size(); ++l) {
      EXPECT_EQ(back.levels[l].dims, cluster.levels[l].dims);
      EXPECT_EQ(back.levels[l].link_latency, cluster.levels[l].link_latency);
      EXPECT_EQ(back.levels[l].efficiency, cluster.levels[l].efficiency);
    }
    EXPECT_EQ(back.overhead.step, cluster.overhead.step);
    EXPECT_EQ(back.reserved_memory, cluster.reserved_memory);
  }
}

}  // namespace
}  // namespace tandem
