// Events and decisions as one line each, for the trace of a scenario.
#pragma once

#include <string>

#include "sched/scheduler.h"

namespace fairlead::sim {

std::string event_text(const sched::Event& event);
std::string decision_text(const sched::Decision& decision, const sched::Scheduler& scheduler);

}  // namespace fairlead::sim
