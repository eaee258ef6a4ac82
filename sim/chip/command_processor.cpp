// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/command_processor.h"

#include <fmt/format.h>
#include <algorithm>

namespace tandem::sim {
namespace {

/// Activations between two looks at whether to go on.
constexpr std::int64_t kWatchInterval = 4096;

std::uint64_t event_key(const RunEvent& event, std::int64_t position) {
  return static_cast<std::uint64_t>(position) << 52U |
         (static_cast<std::uint64_t>(event.block) & 0xffffffffffffU) << 3U | static_cast<std::uint64_t>(event.kind);
}

}  // namespace

CommandProcessor::CommandProcessor(sc_core::sc_module_name name, std::vector<Command> commands, GlobalBuffer& buffer,
                                   Tracer tracer)
    : sc_module(name), commands_(std::move(commands)), buffer_(buffer), tracer_(tracer), results_(commands_.size()) {
  SC_METHOD(process);
  sensitive << events_.event();
}

void CommandProcessor::add_run(std::unique_ptr<OperatorRun> run, RunResources resources) {
  runs_.push_back({std::move(run), std::move(resources)});
}

void CommandProcessor::set_watch(std::function<bool()> cancelled, std::function<void(double)> progress) {
  cancelled_ = std::move(cancelled);
  progress_ = std::move(progress);
}

void CommandProcessor::post(const RunEvent& event) {
  events_.push(event.path.at, event_key(event, event.run->position()), event);
}

void CommandProcessor::process() {
  if (activations_++ % kWatchInterval == 0) watch();
  while (events_.due()) {
    const RunEvent event = events_.pop();
    event.run->handle(event);
    if (event.run->finished()) end(static_cast<std::size_t>(event.run->position()));
  }
  dispatch();
}

void CommandProcessor::watch() {
  if (progress_)
    progress_(static_cast<double>(ended_) / static_cast<double>(std::max<std::size_t>(1, commands_.size())));
  if (!cancelled_ || !cancelled_()) return;
  was_cancelled_ = true;
  sc_core::sc_pause();
}

bool CommandProcessor::can_start(std::size_t position) const {
  const Command& command = commands_[position];
  if (!buffer_.has_room(command.global_buffer)) return false;
  return std::all_of(command.after.begin(), command.after.end(),
                     [this](std::int32_t earlier) { return results_[static_cast<std::size_t>(earlier)].ended; });
}

void CommandProcessor::dispatch() {
  while (first_open_ < commands_.size() && results_[first_open_].started) ++first_open_;
  for (std::size_t position = first_open_; position < commands_.size(); ++position) {
    if (!results_[position].started && can_start(position)) start(position);
  }
}

void CommandProcessor::start(std::size_t position) {
  Command& command = commands_[position];
  Result& result = results_[position];
  Run& run = runs_[position];
  result.started = true;
  result.start = now();
  result.released_by = last_ended_;
  buffer_.acquire(command.global_buffer);
  if (command.is_matmul) {
    command.tensor.source = run.run.get();
    for (command.tensor.index = 0; TensorCore * core : run.resources.tensor_cores) {
      core->assign(command.tensor);
      ++command.tensor.index;
    }
  } else {
    command.vector.source = run.run.get();
    for (command.vector.index = 0; VectorCore * core : run.resources.vector_cores) {
      core->assign(command.vector);
      ++command.vector.index;
    }
  }
  Path launched{now(), static_cast<std::int32_t>(position), {}};
  launched.add(Cause::launch, command.launch);
  tracer_.record(EventKind::launch, now(), launched.at, launched.op, Bytes(0));
  post({RunEvent::Kind::launched, run.run.get(), 0, 0, launched});
}

void CommandProcessor::end(std::size_t position) {
  Result& result = results_[position];
  const Path& done = runs_[position].run->done();
  result.ended = true;
  result.end = done.at;
  result.by_cause = done.causes.all();
  buffer_.release(commands_[position].global_buffer);
  ++ended_;
  last_ended_ = static_cast<std::int32_t>(position);
}

std::string CommandProcessor::unfinished() const {
  std::string text;
  for (std::size_t position = 0; position < commands_.size(); ++position) {
    const Result& result = results_[position];
    if (result.ended) continue;
    std::string reason = "earlier operators";
    if (result.started) reason = runs_[position].run->waiting_for();
    if (!result.started && !buffer_.has_room(commands_[position].global_buffer)) reason = "room in the global buffer";
    text += fmt::format("\n  {} waits for {}", commands_[position].name, reason);
  }
  return text;
}

}  // namespace tandem::sim
