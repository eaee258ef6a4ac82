// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "search/cause_seconds.h"
#include "search/predict.h"

namespace tandem {

TimeByCause rounded(const CauseSeconds& part, Seconds total) {
  TimeByCause by_cause;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < kCauses; ++i) {
    by_cause.part[i] = to_picoseconds(Seconds(part[i]));
    if (part[i] > part[largest]) largest = i;
  }
  const Picoseconds whole(static_cast<std::int64_t>(std::ceil(total.count() * 1e12)));
  by_cause.part[largest] += whole - by_cause.total();
  return by_cause;
}

OperatorAnswer predict_operator(const Chip& chip, const Operator& op, const Mapping& mapping) {
  const OperatorTimes times = operator_times(chip, op, mapping);
  OperatorAnswer answer;
  answer.name = op.name;
  answer.kind = op.kind;
  answer.pass = op.pass;
  answer.by_cause = rounded(times.part, times.total);
  answer.time = answer.by_cause.total();
  answer.flops = op.flops();
  answer.hbm_bytes = times.hbm_bytes;
  answer.accesses = times.accesses;
  if (times.total > Seconds(0)) answer.utilisation = times.utilisation_seconds / to_seconds(answer.time).count();
  return answer;
}

}  // namespace tandem
