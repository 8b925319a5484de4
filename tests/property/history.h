// Histories: what a core was told and when it was asked to decide, as it happened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "sched/event.h"
#include "sched/scheduler.h"

namespace fairlead::property {

struct Moment {
  Instant at;
  std::optional<sched::Event> event;  // nothing: the core decides
  bool refused = false;               // the core turned the event away
};
using History = std::vector<Moment>;

// The history as a scenario file that plays it again, without the events that were turned away.
std::string scenario_text(const History& history, const std::string& title);

// Everything that a decision says, down to devices and cores.
std::string exact_text(const std::vector<sched::Decision>& decisions,
                       const sched::Scheduler& scheduler);

// A new core that is told the same, and all its decisions in exact_text().
struct Replayed {
  sched::Scheduler scheduler;
  std::string decisions;
};
Replayed replay(const History& history, bool taking_back = false);

// With or without rule 7.
sched::Scheduler new_scheduler(bool taking_back = false);

}  // namespace fairlead::property
