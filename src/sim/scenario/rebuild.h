// The core's present state told to a new core, which must find nothing left to start (I5, I11):
// what is kept incrementally, and what is remembered of earlier failures, hides no room from
// anybody.
//
// Left out, because their waiting is not a matter of the state: workloads that back off and queues
// with a budget. Cost: that of telling a whole cluster.
#pragma once

#include <string>
#include <vector>

#include "sched/scheduler.h"
#include "sim/scenario/symbols.h"

namespace fairlead::sim {

// What the new core starts or complains of; empty if it is at rest as the old one is.
std::vector<std::string> audit_rest(const sched::Scheduler& core,
                                    const sched::SchedulerOptions& options, const Symbols& symbols,
                                    Instant now);

}  // namespace fairlead::sim
