// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "sim/chip/hbm_queued_channel.h"
#include "workloads/hbm_traffic.h"

namespace tandem::sim {

/// Issues the traffic's requests, piece by piece, at most one atom per channel and command interval, each engine in
/// order under its share of the window.
class HbmTrafficSource : public sc_core::sc_module, public HbmClient {
 public:
  struct Spec {
    Hbm hbm;
    HbmTraffic traffic;
    Picoseconds command{};
    Picoseconds from{}, to{};  ///< what is measured
  };
  struct Stats {
    std::int64_t activations = 0, pieces = 0;
    std::int64_t issued_atoms = 0, answered_atoms = 0;
    std::int64_t read_atoms = 0, written_atoms = 0;  ///< measured
    double read_latency = 0;                         ///< picoseconds, sum over measured atoms
  };

  HbmTrafficSource(sc_core::sc_module_name name, const Spec& spec);
  void connect(std::vector<HbmQueuedChannel*> channels) { channels_ = std::move(channels); }
  void hbm_answered(std::span<const HbmService> answers) override;
  [[nodiscard]] const Stats& stats() const { return stats_; }

 private:
  struct Engine {
    HbmAddressStream stream;
    HbmRequest request{};  ///< what is left of it
    std::int64_t credit = 0;
    std::int64_t needed = 0;  ///< credit that it waits for; 0: it does not
    std::int64_t in_flight = 0;
    bool job_open = false;          ///< all of a job is issued, not all of it answered
    Picoseconds job_from{};         ///< when the next may start
    std::vector<HbmService> due{};  ///< answers with atoms to come
  };
  enum class Step { issued, blocked, later };

  SC_HAS_PROCESS(HbmTrafficSource);
  void process();
  Step issue(std::size_t index);
  bool has_request(Engine& engine);
  void collect(Engine& engine);
  [[nodiscard]] Picoseconds credit_at(const Engine& engine) const;
  void measure(const HbmService& answer);
  void wake_at(Picoseconds at);

  Spec spec_;
  HbmMapping mapping_;
  std::vector<HbmQueuedChannel*> channels_;
  std::vector<Engine> engines_;
  std::int64_t most_atoms_ = 1;  ///< of a piece
  std::size_t turn_ = 0;
  double interval_ = 0, arrival_ = 0;  ///< picoseconds
  std::int64_t issue_free_ = 0;        ///< in atoms: picoseconds x channels / command
  Picoseconds issue_at_{};
  sc_core::sc_event wake_;
  Stats stats_;
};

}  // namespace tandem::sim
