// SPDX-License-Identifier: Apache-2.0
// What the devices of one pipeline stage do for one microbatch, as few segments as can be: what nothing else can
// interfere with is one segment.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/cluster/communicators.h"
#include "sim/cluster/isolated_collective.h"
#include "workloads/answer.h"
#include "workloads/program.h"

namespace tandem {

enum class SegmentKind {
  busy,        ///< compute, and collectives on links of their own
  collective,  ///< on links that others use too; played step by step
  bucket       ///< a collective that begins here and runs beside what follows
};

/// A slice within a segment.
struct SliceOccurrence {
  Picoseconds offset{};
  std::int32_t slice = 0;
};

struct Segment {
  SegmentKind kind = SegmentKind::busy;
  Picoseconds time{};      ///< busy only
  TimeByCause by_cause{};  ///< busy only; adds up to `time`
  Axis axis{};             ///< others
  Collective collective{};
  std::vector<SliceOccurrence> slices{};  ///< busy only, where asked for
};
using Timeline = std::vector<Segment>;

struct StageTimelines {
  Timeline forward, backward;
  Timeline last_backward;  ///< of the last microbatch: gradients leave bucket by bucket, where the plan overlaps them
  Timeline weight, last_weight;  ///< gradients of the weights, where the schedule takes them apart
  Timeline after;          ///< once, after the last backward
};

/// How a collective enters a timeline.
enum class CollectivePlay { none, alone, contended };  ///< none: the group has one member
struct CollectiveCost {
  CollectivePlay play = CollectivePlay::none;
  CollectiveTime alone;
};

struct StepCosts {
  std::span<const SliceAnswer> slices;
  std::function<CollectiveCost(Axis, const Collective&, Phase)> collective;
  enum class Record { nothing, slices } record = Record::nothing;
  Picoseconds collective_host{};  ///< that the host needs to launch one
  Picoseconds microbatch_host{};  ///< for a microbatch beside its operators, with the head's forward pass
};

/// Causes of a collective that ran alone.
TimeByCause causes_of(Axis axis, const CollectiveTime& alone);

StageTimelines stage_timelines(const Program& program, std::size_t stage, const StepCosts& costs);

/// Steps of a layer one after another, collectives at their time alone; `host`: what its host needs beside them.
TimeByCause time_alone(std::span<const Step> steps, const StepCosts& costs, Picoseconds host = {});

}  // namespace tandem
