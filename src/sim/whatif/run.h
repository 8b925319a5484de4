// The history of a log once more in virtual time, with or without a change: what came from outside
// comes at its time, and work takes as long as it took (history.h), from whenever it starts now.
//
// Without a change and with nothing in the log that came by a clock of its own (a service that
// stops and starts by rules outside the core), it is the recorded run again. Work of unknown length
// runs to the end of the log. Nothing happens after that end.
//
// Cost: the core's decisions, and O(log n) for each event and each start. Deterministic.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/whatif/change.h"
#include "sim/whatif/history.h"

namespace fairlead::sim {

// What became of one workload.
struct Fate {
  LifeName name;
  std::string queue;
  Instant submitted;
  Instant first_start = kNever;
  bool refused = false;         // at its submission
  bool running = false;         // at the end of the log: not ended
  bool waiting = false;         // at the end of the log, with nothing running
  bool added = false;           // by the change
  std::int64_t taken_back = 0;  // times that tasks of it were stopped by rule 7 and not moved
  std::int64_t moved = 0;       // times that tasks of it were moved by rule 7
  std::int64_t gpu_milli_ms = 0;

  bool started() const { return first_start != kNever; }
};

struct UseBucket {
  double used_gpus = 0;  // mean over the bucket; so is the other
  double capacity_gpus = 0;
};

inline constexpr std::size_t kUseBuckets = 240;

struct RunOutcome {
  std::vector<Fate> fates;         // in the order of submission
  std::vector<UseBucket> buckets;  // equal parts of the time of the log
  double used_gpu_ms = 0;          // GPUs × ms held
  double capacity_gpu_ms = 0;      // of healthy devices on ready nodes
  std::int64_t turned_away = 0;    // events, submissions apart
  Instant changed_at;              // when the change took place
};

// `change` nullptr: none. Error: kOutOfRange if the change's time lies outside of the log; what the
// core says to the change itself.
Result<RunOutcome> run_history(const History& history, const Change* change);

}  // namespace fairlead::sim
