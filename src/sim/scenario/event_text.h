// Events and decisions as one line each, for traces of scenarios and of logs.
#pragma once

#include <string>

#include "sched/scheduler.h"
#include "sim/log/record.h"

namespace fairlead::sim {

std::string event_text(const sched::Event& event);
std::string decision_text(const sched::Decision& decision, const sched::Scheduler& scheduler);
std::string decision_text(const NamedDecision& decision);

}  // namespace fairlead::sim
