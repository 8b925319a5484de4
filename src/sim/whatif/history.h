// What a log says about the world, apart from what the core decided in it: what came from outside
// and when, and how long work took.
//
// A task's work is its observed run time, from its start to the end that the log tells. What was
// run before it was taken back (rule 7) or lost with its node is not part of it: such work starts
// over. What was run before a requeue from outside is. Work whose end the log does not tell has no
// length.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/log/frames.h"
#include "sim/log/record.h"
#include "sim/whatif/task_book.h"

namespace fairlead::sim {

// Something from outside, at its time; without an event the core was asked to decide. Ends of work
// are not among them: those are in the lives below.
struct HistoryItem {
  Instant at;
  std::int64_t record = 0;
  std::optional<sched::Event> event;
};

// A run of a task, or of a whole workload, to its end.
struct Work {
  Duration length;
  sched::TaskOutcome outcome = sched::TaskOutcome::kSucceeded;
  Instant at;               // when it ended in the log, and
  std::int64_t record = 0;  // with which record
};

// A start that failed outside the core (rule 4.3).
struct FailedStart {
  Duration retry_after;
  Instant at;
  std::int64_t record = 0;
};

// A workload from a submission to its end. A name that is used again has several.
struct Life {
  std::map<TaskName, std::vector<Work>> tasks;  // of each task one after the other
  std::optional<Work> removed;                  // while it ran: its owner said that it was over
  std::map<std::int64_t, FailedStart> failed_starts;  // by which of its starts, from 1
  std::optional<Instant> first_start;
  // How long a task takes of which nothing else is known; what has run longer already takes twice
  // as long, as often as need be (9.1.b).
  std::optional<Duration> usual;
};

// Name, and with which submission of that name, from 1, it began.
using LifeName = std::pair<std::string, std::int32_t>;

struct History {
  LogHeader header;
  std::vector<HistoryItem> items;
  std::map<LifeName, Life> lives;
  Instant start;
  Instant end;
  std::optional<TornEnd> torn;
  bool recorded = true;      // by a log; else it is what may lie ahead of a present state
  std::int64_t unknown = 0;  // workloads of that state of which nobody knows how long they run

  const Life* life(const LifeName& name) const {
    const auto it = lives.find(name);
    return it == lives.end() ? nullptr : &it->second;
  }
};

// The workload that the event brings; nullptr if it brings none.
const std::string* submitted_name(const sched::Event& event);

// Replays the log and watches. Memory: the events of the log. Error: as LogReader; kFailed if the
// core does not decide as recorded: then it is not known what ran.
Result<History> read_history(std::istream& in, const std::string& name);

}  // namespace fairlead::sim
