// A second opinion on the core: what every state and every decision must satisfy, computed from the
// specifications alone and not from the core's own ledgers.
//
// Checked: I1 (devices, nodes, limits), I2 (a gang starts whole), rule 6.1 (a task starts only
// where it may), 6.4 (required levels). Cost: linear in the cluster and in what runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sched/scheduler.h"
#include "sim/scenario/symbols.h"

namespace fairlead::sim {

// What is wrong with a decision that has just been made; empty if nothing.
std::vector<std::string> audit_start(const sched::Started& started, const sched::Scheduler& core,
                                     const Symbols& symbols);

// What is wrong with the present state.
std::vector<std::string> audit_state(const sched::Scheduler& core, const Symbols& symbols);

}  // namespace fairlead::sim
