// Carries out a change that an explanation suggests (rule 10.2).
#pragma once

#include <vector>

#include "base/result.h"
#include "sched/event.h"
#include "sched/explanation.h"
#include "sim/scenario/symbols.h"

namespace fairlead::sim {

struct CureStep {
  Instant at;
  sched::Event event;
};

// The events by which a person would make the change, from `now` on. `holders` are the workloads
// that run on the node of a kFreeOnNode, in the order in which they would be asked to leave. Error:
// kNotFound, if the change names what is not there.
Result<std::vector<CureStep>> cure_events(const sched::Change& change, const std::string& workload,
                                          const Symbols& symbols, Instant now,
                                          const std::vector<std::string>& holders);

}  // namespace fairlead::sim
