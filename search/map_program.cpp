// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "arch/support/error.h"
#include "search/map_kinds.h"
#include "search/mapper.h"

namespace tandem {
namespace {

/// Mappings found so far; operators are the same up to their names.
class KnownMappings {
 public:
  explicit KnownMappings(const Chip& chip) : chip_(chip) {}

  const Mapping& of(Operator op) {
    op.name.clear();
    for (const auto& [known, mapping] : known_) {
      if (known == op) return mapping;
    }
    Mapping mapping = map_operator(chip_, op);
    return known_.emplace_back(std::move(op), mapping).second;
  }

 private:
  const Chip& chip_;
  std::vector<std::pair<Operator, Mapping>> known_;
};

void check_cores(const Chip& chip, const Operator& op, const CoreRange& range, std::int64_t count, const char* kind) {
  if (range.first >= 0 && range.count >= 1 && range.first + range.count <= count) return;
  throw InfeasibleError("operator " + op.name + " needs " + kind + " cores [" + std::to_string(range.first) + ", " +
                        std::to_string(range.first + range.count) + "), " + chip.name + " has " +
                        std::to_string(count));
}

}  // namespace

Mapping map_operator(const Chip& chip, const Operator& op, CoreRange tensor_cores, CoreRange vector_cores) {
  Mapping mapping;
  if (!is_matmul(op.kind)) {
    check_cores(chip, op, vector_cores, chip.vector.count, "vector");
    mapping.vector_cores = vector_cores;
    mapping.vector = map_vector(chip, op, vector_cores);
    return mapping;
  }
  if (!chip.supports(op.dtype)) {
    throw ConfigError("operator " + op.name + ": the tensor cores of " + chip.name + " do not support " +
                      std::string(name_of(op.dtype)));
  }
  check_cores(chip, op, tensor_cores, chip.tensor.count, "tensor");
  mapping.tensor_cores = tensor_cores;
  if (!op.epilogue.empty()) check_cores(chip, op, vector_cores, chip.vector.count, "vector");
  mapping.matmul = map_matmul(chip, op, tensor_cores, vector_cores);
  if (!op.epilogue.empty() || mapping.matmul.split_k > 1) mapping.vector_cores = vector_cores;
  return mapping;
}

Mapping map_operator(const Chip& chip, const Operator& op) {
  return map_operator(chip, op, {0, chip.tensor.count}, {0, chip.vector.count});
}

void map_program(const Chip& chip, Program& program) {
  KnownMappings known(chip);
  for (Slice& slice : program.slices) {
    slice.mappings.clear();
    for (const Operator& op : slice.graph.operators) slice.mappings.push_back(known.of(op));
    slice.schedule = schedule_operators(chip, slice.graph, slice.mappings);
  }
}

}  // namespace tandem
