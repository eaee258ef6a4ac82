// SPDX-License-Identifier: Apache-2.0
// The narrow boundary behind which HBM sits, in the manner of TLM-2.0: requests are pooled payloads that travel by
// pointer, an answer may name a moment to come (an annotated delay). Another DRAM simulator implements MemoryPort.
#pragma once

#include <cstdint>

#include "sim/chip/path.h"

namespace tandem::sim {

enum class Access { read, write };

struct MemoryRequest;

class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  /// `admitted`: when the memory had room for the whole request; `done`: when its last byte was there. Both now or
  /// later.
  virtual void memory_answered(MemoryRequest& request, const Path& admitted, const Path& done) = 0;
};

struct MemoryRequest {
  Access access = Access::read;
  std::uint64_t address = 0;
  Bytes bytes{};
  Path arrival;           ///< now
  std::uint64_t key = 0;  ///< decides between requests of the same instant
  MemoryClient* client = nullptr;
};

class MemoryPort {
 public:
  virtual ~MemoryPort() = default;
  /// The request stays the caller's and must live until it is answered.
  virtual void submit(MemoryRequest& request) = 0;
};

}  // namespace tandem::sim
