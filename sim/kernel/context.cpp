// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/context.h"

#include <stdexcept>
#include <systemc>

// libsystemc's own main() refers to sc_main; tandem drives the kernel itself and never enters there.
int sc_main(int /*argc*/, char* /*argv*/[]) { return 1; }

namespace tandem {
namespace {

bool& context_alive() {
  static bool alive = false;
  return alive;
}

}  // namespace

struct SimulationContext::State {
  sc_core::sc_simcontext* previous_current = nullptr;
  sc_core::sc_simcontext* previous_global = nullptr;
  std::unique_ptr<sc_core::sc_simcontext> own;
};

SimulationContext::SimulationContext() : state_(std::make_unique<State>()) {
  if (context_alive()) throw std::logic_error("a SystemC simulation is already alive in this process");
  // The first call makes the library's own context; that one is left alone for the life of the process.
  state_->previous_current = sc_core::sc_get_curr_simcontext();
  state_->previous_global = sc_core::sc_default_global_context;
  state_->own = std::make_unique<sc_core::sc_simcontext>();
  sc_core::sc_curr_simcontext = state_->own.get();
  sc_core::sc_default_global_context = state_->own.get();
  context_alive() = true;
}

SimulationContext::~SimulationContext() {
  // Deleting a context refers to the current one, so it must still be installed.
  state_->own.reset();
  sc_core::sc_curr_simcontext = state_->previous_current;
  sc_core::sc_default_global_context = state_->previous_global;
  context_alive() = false;
}

}  // namespace tandem
