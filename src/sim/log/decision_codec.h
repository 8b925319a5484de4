// Decisions with their names, as packed values. Lists by place, not maps: most of a log is these.
#pragma once

#include <vector>

#include "base/result.h"
#include "sim/log/packed.h"
#include "sim/log/record.h"

namespace fairlead::sim {

// The names are those that the ids had when each decision was made: within a list an id may be used
// again after its workload finished. Requires: `core` is as it was when decide() returned.
std::vector<NamedDecision> named(const std::vector<sched::Decision>& decisions,
                                 const sched::Scheduler& core);

Packed pack_decisions(const std::vector<NamedDecision>& decisions);

// Error: kInvalidArgument.
Result<std::vector<NamedDecision>> unpack_decisions(const Packed& packed);

}  // namespace fairlead::sim
