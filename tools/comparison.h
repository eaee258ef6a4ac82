// SPDX-License-Identifier: Apache-2.0
// A prediction and a simulation of the same thing, side by side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "workloads/answer.h"

namespace tandem {

/// What prediction missed of a time, by cause: simulated minus predicted, largest first.
struct MissedCause {
  Cause cause{};
  Picoseconds predicted{}, simulated{};
  [[nodiscard]] Picoseconds missed() const { return simulated - predicted; }
};

/// One quantity that both state. `error`: (predicted - simulated) / simulated; NaN where nothing was simulated.
struct ComparedTime {
  std::string level;  ///< operator, layer, stage, iteration
  std::string name;
  Picoseconds predicted{}, simulated{};
  std::vector<MissedCause> causes{};  ///< operators: their parts add up to the two times
  [[nodiscard]] double error() const;
};

/// The iteration with one effect switched off; it need not add up with the others.
struct Ablation {
  std::string effect;
  std::optional<Picoseconds> time;  ///< empty: it failed, for `reason`
  std::string reason;
};

struct Comparison {
  std::vector<ComparedTime> operators, layers, stages, iteration;
  std::vector<MissedCause> causes;
  std::vector<Ablation> ablations;
};

/// Operators pair by slice, name and pass, and by order among equals; one that only one answer has is an error of ours
/// (std::logic_error).
Comparison compare(const Answer& predicted, const Answer& simulated);

std::string comparison_text(const Comparison& comparison);
nlohmann::ordered_json to_json(const Comparison& comparison);
/// level,name,predicted_s,simulated_s,error
std::string comparison_csv(const Comparison& comparison);

}  // namespace tandem
