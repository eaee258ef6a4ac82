// SPDX-License-Identifier: Apache-2.0
#include "sim/chip/dma_engine.h"

namespace tandem::sim {

DmaEngine::DmaEngine(sc_core::sc_module_name name, const Spec& spec, std::vector<MemoryPort*> memory,
                     GlobalBuffer& buffer, Tracer tracer)
    : sc_module(name),
      spec_(spec),
      memory_(std::move(memory)),
      buffer_(buffer),
      tracer_(tracer),
      requests_(memory_.size()) {
  SC_METHOD(process);
  sensitive << waiting_.event() << set_up_done_;
  dont_initialize();
}

void DmaEngine::submit(const DmaTransfer& transfer) { waiting_.push(now(), transfer.key, transfer); }

void DmaEngine::process() {
  ++stats_.activations;
  if (busy_ && answers_due_ == 0) {
    if (now() >= sent_.at) {
      send();
    } else {
      set_up_done_.notify(to_sc_time(sent_.at - now()));
    }
    return;
  }
  // What ended in this delta cycle is seen in the next, whichever process the kernel runs first.
  if (!busy_ && free_delta_ <= sc_core::sc_delta_count() && waiting_.due()) set_up();
}

void DmaEngine::set_up() {
  busy_ = true;
  current_ = waiting_.pop();
  sent_ = issue_.begin(current_.arrival);
  sent_.add(Cause::hbm_overhead, spec_.setup);
  set_up_done_.notify(to_sc_time(std::max(sent_.at - now(), Picoseconds(0))));
}

void DmaEngine::send() {
  // Striped evenly over the stacks, as they interleave addresses.
  const auto stacks = static_cast<std::int64_t>(memory_.size());
  const std::int64_t share = current_.bytes.value() / stacks;
  const std::int64_t rest = current_.bytes.value() % stacks;
  admitted_ = sent_;
  done_ = sent_;
  answers_due_ = 1;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const Bytes bytes(share + (static_cast<std::int64_t>(i) < rest ? 1 : 0));
    if (bytes.value() == 0) continue;
    ++answers_due_;
    requests_[i] = {current_.access, current_.address, bytes, sent_, current_.key, this};
  }
  const Access opposite = current_.access == Access::read ? Access::write : Access::read;
  access_ = {opposite, {}, sent_, current_.key, this, nullptr};
  access_.parts[0].bytes = current_.bytes;
  buffer_.submit(access_);
  for (MemoryRequest& request : requests_) {
    if (request.client != nullptr) memory_[static_cast<std::size_t>(&request - requests_.data())]->submit(request);
  }
}

void DmaEngine::memory_answered(MemoryRequest& request, const Path& admitted, const Path& done) {
  request.client = nullptr;
  admitted_ = later(admitted_, admitted);
  done_ = later(done_, done);
  answered();
}

void DmaEngine::buffer_answered(BufferAccess& /*access*/, const Path& /*begin*/, const Path& end) {
  done_ = later(done_, end);
  answered();
}

void DmaEngine::answered() {
  if (--answers_due_ == 0) finish();
}

void DmaEngine::finish() {
  // A transfer larger than the window goes out window by window, one per round trip.
  Path window = sent_;
  window.add(Cause::hbm_overhead, spec_.window_rate.time(current_.bytes));
  if (window.at > done_.at) done_.add(Cause::hbm_overhead, window.at - done_.at);
  issue_.end(later(admitted_, window));
  ++stats_.transfers;
  (current_.access == Access::read ? stats_.read : stats_.written) += current_.bytes;
  tracer_.record(current_.access == Access::read ? EventKind::dma_read : EventKind::dma_write, sent_.at, done_.at,
                 current_.arrival.op, current_.bytes);
  busy_ = false;
  free_delta_ = sc_core::sc_delta_count() + 1;
  current_.client->dma_answered(current_.tag, done_);
  if (!waiting_.empty()) set_up_done_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace tandem::sim
