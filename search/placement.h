// SPDX-License-Identifier: Apache-2.0
// Exact placement: the best plans of a space for one cluster under the analytical model.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arch/cluster.h"
#include "search/plan_space.h"
#include "workloads/model.h"

namespace tandem {

struct Placement {
  Plan plan;
  Picoseconds time{};  ///< predicted, of one iteration
  double tokens_per_second = 0;
  double mfu = 0;
  bool operator==(const Placement&) const = default;
};

/// What became of the plans of a space. `predicted` + `bounded` + all reasons = `enumerated`.
struct PlacementCounts {
  std::int64_t enumerated = 0;
  std::int64_t predicted = 0;                    ///< weighed with the analytical model
  std::int64_t bounded = 0;                      ///< provably slower than what was found
  std::map<std::string, std::int64_t> rejected;  ///< "memory", "mapping", "invalid"

  PlacementCounts& operator+=(const PlacementCounts& other);
  bool operator==(const PlacementCounts&) const = default;
};

/// The plan that came closest to fitting in memory.
struct NearestMiss {
  Bytes needed{}, capacity{};
  std::string text;  ///< "needs 41.2 GiB of 31 GiB at stage 0, most of it optimizer (tp 1, pp 4, ...)"
  bool operator==(const NearestMiss&) const = default;
};

struct PlacementResult {
  std::vector<Placement> best;  ///< fastest first; ties in the order of the space
  PlacementCounts counts;
  std::optional<NearestMiss> nearest_miss;  ///< set if a plan failed for memory
  std::int64_t unproven = 0;  ///< plans whose stages' search met its node limit; 0: `best` is proven optimal
};

/// Places one model on clusters that differ in their chip only; what does not depend on the chip is computed once.
class Placer {
 public:
  /// `network`: its chip does not matter. Plans are those of `space` on as many devices.
  Placer(TransformerModel model, PlanSpace space, Cluster network);
  Placer(Placer&&) noexcept;
  Placer& operator=(Placer&&) noexcept;
  ~Placer();

  /// The `count` fastest plans, at most one for each choice of degrees, microbatch, recompute and schedule: that with
  /// the best contiguous stages of one layer or more (interleaved schedules: even stages only). Exact for predict(): a
  /// plan is left out only if a lower bound on its time is not below the `count`-th best, except as `unproven` says.
  /// A data type that the chip lacks is a ConfigError.
  [[nodiscard]] PlacementResult place(const Chip& chip, std::int64_t count = 1) const;

  /// Lower bound on the predicted time of every plan, from bounds on its operators; infinity without a plan that fits.
  /// `close` takes longer and is no less.
  enum class Effort { quick, close };
  [[nodiscard]] Seconds least_time(const Chip& chip, Effort effort) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

PlacementResult place(const Cluster& cluster, const TransformerModel& model, const PlanSpace& space,
                      std::int64_t count = 1);

}  // namespace tandem
