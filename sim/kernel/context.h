// SPDX-License-Identifier: Apache-2.0
// One SystemC simulation after another in one process.
#pragma once

#include <memory>

namespace tandem {

/// Installs a fresh SystemC context for its lifetime and restores the one before on destruction. Modules must be
/// created after it and destroyed before it. The library's first context is never deleted (SystemC 2.3.4 keeps a static
/// event in it). Only one may be alive per process: a second one is a std::logic_error.
class SimulationContext {
 public:
  SimulationContext();
  SimulationContext(const SimulationContext&) = delete;
  SimulationContext& operator=(const SimulationContext&) = delete;
  ~SimulationContext();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem
