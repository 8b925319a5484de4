// What a log holds (docs/replay.md, ADR 12): everything that a core was told and everything that it
// said, in order. A log is a complete input: telling it to a new core gives the same decisions.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sched/decision.h"
#include "sched/event.h"
#include "sched/scheduler.h"

namespace fairlead::sim {

// The first record, before those that are numbered.
struct LogHeader {
  std::string program;  // who wrote it: "fairlead 0.1.0"
  sched::SchedulerOptions options;
};

// A decision with the names of what its ids meant when it was made.
struct NamedDecision {
  sched::Decision decision;
  std::string workload;
  std::string pool;                // of a start
  std::string claimant;            // of a stop by rule 7
  std::vector<std::string> nodes;  // of a start, one per task
};

struct EventRecord {
  sched::Event event;
};
// The core turned away the event just before.
struct RefusalRecord {
  Error error;
};
// The core was asked to decide.
struct DecisionRecord {
  std::vector<NamedDecision> decisions;
};

struct LogRecord {
  Instant at;
  std::variant<EventRecord, RefusalRecord, DecisionRecord> what;
};

}  // namespace fairlead::sim
